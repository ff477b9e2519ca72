// rowlock watch: a line for each change of one key, or of all that are held.
#include "rowlock/watch.hpp"

#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <condition_variable>
#include <iostream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "cli/command_tree.hpp"
#include "cli/database_time.hpp"
#include "cli/database_url.hpp"
#include "cli/exit_codes.hpp"
#include "cli/fault_text.hpp"
#include "cli/options.hpp"
#include "cli/printable.hpp"
#include "cli/say.hpp"
#include "cli/shown_row.hpp"
#include "rowlock/clock.hpp"
#include "rowlock/lock_table.hpp"

namespace rowlock::cli {

namespace {

struct watch_options {
  table_options where;
  std::optional<std::string> type;
  std::optional<std::string> source;
  bool json = false;
};

constexpr std::chrono::seconds between_lists{1};

/// Without what changes by itself: times and renewals.
std::string words_for(const row_state& row) {
  std::string words = state_of(row);
  if (row.owned || row.is_live()) words += (row.owned ? " by " : " after ") + row.holder;
  words += ", version " + std::to_string(row.version.number);
  if (row.asked) words += ", asked for by " + row.asked->by + ": " + row.asked->reason;
  if (!row.note.empty()) words += ", note: " + row.note;
  return words;
}

/// Thread-safety: all members may be called from any thread.
class change_printer {
 public:
  explicit change_printer(bool json) : json_{json} {}

  void print(const row_state& row) {
    const auto now =
        std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
    const std::lock_guard lock{mutex_};
    if (json_) {
      nlohmann::ordered_json line{{"at", to_rfc3339(now)}};
      line.update(json_of(row));
      std::cout << compact_json(line) << '\n';
    } else {
      std::cout << to_rfc3339(now) << ' ' << printable(in_words(row.key) + ' ' + words_for(row))
                << '\n';
    }
    std::cout.flush();
    if (!std::cout) failed_.notify_all();
  }

  void await_failure() {
    std::unique_lock lock{mutex_};
    failed_.wait(lock, [] { return !std::cout; });
  }

 private:
  const bool json_;
  std::mutex mutex_;
  std::condition_variable failed_;
};

void say_fault(const std::string& fault) {
  say("the database could not be read: " + fault + "; trying again");
}

int watch_key(store& rows, const lock_key& key, change_printer& printer) {
  (void)rows.read(std::array{key});  // what is wrong for good ends the command
  lock_table locks{rows};
  const auto watching = locks.watch(key, [&](const watched_key& seen) {
    if (!seen.fault.empty()) return say_fault(seen.fault);
    printer.print(seen.row.value_or(row_state{.key = key, .version = {}}));
  });
  printer.await_failure();
  return exit_code::success;
}

int watch_all(store& rows, const list_request& request, change_printer& printer) {
  std::map<lock_key, row_state> known;
  bool is_away = false;
  for (auto next = boot_clock::now(); std::cout; next += between_lists) {
    system_time()->sleep_until(next, {});
    std::map<lock_key, row_state> held;
    try {
      for (auto& row : rows.list(request)) {
        const auto key = row.key;
        held.emplace(key, std::move(row));
      }
    } catch (const error& fault) {
      if (fault.kind() != errc::unavailable) throw;
      if (!std::exchange(is_away, true)) say_fault(fault_text(fault));
      next = boot_clock::now();
      continue;
    }
    const bool was_away = std::exchange(is_away, false);
    for (const auto& [key, row] : known) {
      if (!held.contains(key)) printer.print(row_state{.key = key, .version = row.version});
    }
    for (const auto& [key, row] : held) {
      const auto before = known.find(key);
      if (!was_away && before != known.end() && words_for(before->second) == words_for(row)) {
        continue;
      }
      printer.print(row);
    }
    known = std::move(held);
  }
  return exit_code::success;
}

int watch_now(const watch_options& options) {
  if (options.source && !options.type) {
    throw misuse("--source names a key together with its type: give --type, too");
  }
  const auto rows = open_store(options.where.database(), table_name{options.where.table});
  change_printer printer{options.json};
  if (options.source) return watch_key(*rows, {*options.type, *options.source}, printer);
  return watch_all(*rows, {.type = options.type}, printer);
}

}  // namespace

void add_watch(CLI::App& app, action& chosen) {
  const auto [watch, options] =
      add_table_command(app, chosen, "watch", "Print a line for each change of keys", watch_now);
  add_value(*watch, "--type TYPE", options->type, "Only keys of this type");
  add_value(*watch, "--source SOURCE", options->source, "Only the key with this source id");
  watch->add_flag("--json", options->json, "An object a line, for programs");
  watch->footer(
      R"(The present state first, then each new one that is seen: a grant, a release, a lease that ran out, a note, a
request to yield. A renewal prints nothing. Without --source all keys that are held are listed once a second; one
key with --type and --source is read once a second, and on PostgreSQL at once when it is released. What comes
and goes in between is not seen, the last state always is. While the database is away it says so once, and then
prints the present state. It ends by a signal, or when its output is closed.

The fields of the JSON objects are at, when it was seen by this machine's clock, and those of show. A key
without a row has version 0.

Example:
  rowlock watch postgresql://app@db/shop --type service --source cleaner --json | jq --unbuffered -r .holder)");
}

}  // namespace rowlock::cli
