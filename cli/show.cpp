// rowlock show: everything that is known of one key.
#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/command_tree.hpp"
#include "cli/database_url.hpp"
#include "cli/duration.hpp"
#include "cli/exit_codes.hpp"
#include "cli/options.hpp"
#include "cli/printable.hpp"
#include "cli/say.hpp"
#include "cli/shown_row.hpp"
#include "rowlock/operators.hpp"

namespace rowlock::cli {

namespace {

struct show_options {
  table_options where;
  key_options which;
  bool json = false;
};

/// Prints nothing for an empty text.
void print_line(const std::string& name, const std::string& text) {
  if (text.empty()) return;
  std::cout << padded(name, 11) << printable(text) << '\n';
}

std::string done_in_words(const done_mark& done) {
  return fmt::format("{} UTC by version {}, remembered for another {}", to_the_second(done.at),
                     done.by.number, show_duration(done.remaining));
}

std::string since_in_words(const row_state& row) {
  const auto since = to_the_second(row.acquired_at) + " UTC";
  return row.held_for ? since + ", " + show_duration(*row.held_for) + " ago" : since;
}

/// `web1:4711, from 2026-01-31 12:00:00 to 2026-01-31 12:00:07 UTC (7.2s), released`
std::string last_in_words(const last_use& last) {
  std::string words = last.holder.empty() ? "a transaction" : last.holder;
  if (!last.from.empty()) words += ", from " + to_the_second(last.from);
  words += (last.from.empty() ? ", at " : " to ") + to_the_second(last.until) + " UTC";
  if (last.held_for) words += " (" + show_duration(*last.held_for) + ')';
  return words + ", " + last.how;
}

std::string ask_in_words(const ask_mark& asked) {
  return to_the_second(asked.at) + " UTC, by " + asked.by + ": " + asked.reason;
}

std::string force_in_words(const row_state& row) {
  if (row.forced_at.empty()) return row.force_reason;
  return to_the_second(row.forced_at) + " UTC, from " + row.forced_from + ": " + row.force_reason;
}

void print_text(const std::string& key, const row_state& row) {
  print_line("key", key);
  print_line("state", state_of(row));
  print_line("used by", row.used_by.value_or(""));
  print_line("holder", row.holder);
  if (row.owned) print_line("since", since_in_words(row));
  print_line("alive", liveness_of(row));
  if (row.is_live()) print_line("remaining", show_duration(*row.remaining));
  print_line("waiters", row.is_waited_for ? "yes" : "");
  if (row.asked) print_line("asked", ask_in_words(*row.asked));
  print_line("id", row.correlation_id);
  print_line("version", std::to_string(row.version.number));
  print_line("note", row.note);
  if (row.done) print_line("done", done_in_words(*row.done));
  print_line("failures", std::to_string(row.failure_count));
  print_line("expiries", std::to_string(row.expiry_count));
  if (row.last) print_line("last", last_in_words(*row.last));
  print_line("forced", force_in_words(row));
}

int show_now(const show_options& options) {
  const auto rows = open_store(options.where.database(), table_name{options.where.table});
  const auto row = show(*rows, options.which.key);
  if (options.json) {
    print_json(row ? json_of(*row) : nullptr);
  } else if (row) {
    print_text(options.which.in_words(), *row);
  }
  if (row) return exit_code::success;
  say(options.which.in_words() + " has no row: no process has used it yet, or it was purged");
  return exit_code::missing;
}

}  // namespace

void add_show(CLI::App& app, action& chosen) {
  const auto [show, options] =
      add_table_command(app, chosen, "show", "Show everything that is known of one key", show_now);
  options->which.add_to(*show);
  show->add_flag("--json", options->json, "An object, for programs; null if there is no row");
  show->footer(
      R"(Output:
  key       its type and source id
  state     held; closed (it has no holder, and cannot be taken yet); busy (a transaction has the row: a row
            lock, or a fence that is not committed); run out (its holder let it, and the key was not taken
            since); free
  used by   that transaction, also of a key that is held. On PostgreSQL it is the session, as far as this
            role may see it; pg_terminate_backend(pid) ends it. On SQLite it is any transaction that writes
            to the file
  alive     when its lease was renewed last, and how long a lease is. A holder that lives renews every third
            of that; after half of it without a renewal it is "no sign for"
  waiters   a process waits for the key, or did in the last ten seconds (PostgreSQL only)
  asked     the holder was asked to yield: when, by whom, why
  id        what the holder calls its work in its own logs (its correlation id)
  failures  commands and callbacks that failed
  expiries  leases that ran out and were taken over
  last      the last holder of a free key, and how that ended: released; failed (released after an error); forced
            (taken away); ran out; locked, committed (by a transaction, whose commit came at that time or
            later)
  forced    the last release by force: when, from whom, why, and by whom

The fields of the JSON object: type, source, state, holder, since, held_ms, ttl_ms, sign_of_life_ms (since the
last grant or renewal), remaining_ms, clock_fault (more is left than ttl_ms), version, note, correlation_id, waited_for, asked (null, or at, by
and reason), done (null, or by, at and remaining_ms), failures, expiries, force_reason, forced (null, or at, from and reason), last (null, or holder,
from, until, held_ms and how), used_by (null, or text).

Exit code: 66 if the key has no row.

Example:
  rowlock show postgresql://app@db/shop --type invoice --source 42 --json | jq .holder)");
}

}  // namespace rowlock::cli
