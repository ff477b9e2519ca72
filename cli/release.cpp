// rowlock release: asks the holder of a key to yield, or takes the key away.
#include <CLI/CLI.hpp>
#include <iostream>
#include <optional>
#include <string>

#include "cli/command_tree.hpp"
#include "cli/database_url.hpp"
#include "cli/exit_codes.hpp"
#include "cli/options.hpp"
#include "cli/printable.hpp"
#include "cli/say.hpp"
#include "cli/shown_row.hpp"
#include "cli/values.hpp"
#include "rowlock/operators.hpp"

namespace rowlock::cli {

namespace {

struct release_options {
  table_options where;
  key_options which;
  std::string reason;
  std::string by;
  std::optional<std::string> expected;
  bool asks = false;
  bool forces = false;
  confirmation confirmed;
};

int ask_now(const release_options& options) {
  const std::string name = options.which.in_words();
  check(ask_request{
      .key = options.which.key, .version = {}, .by = options.by, .reason = options.reason});
  const auto rows = open_store(options.where.database(), table_name{options.where.table});
  const auto result = ask(*rows, options.which.key, options.reason, options.by);
  if (result == ask_result::asked) {
    const auto row = show(*rows, options.which.key);
    const bool is_held = row && row->asked;
    std::cout << printable("asked for " + name +
                           (is_held ? ", which is " + possession_in_words(*row) : ""))
              << '\n';
    return exit_code::success;
  }
  say(result == ask_result::free
          ? name + " has no holder to ask: it is free"
          : name +
                " was not asked for: a transaction has the row, or its holders change; try again");
  return exit_code::not_done;
}

version parse_version(const std::string& text) {
  const auto number = whole_number<decltype(version::number)>(text);
  if (number) return {*number};
  throw misuse("--version is not a version: write the number that show gives");
}

int refused(const std::string& key, const std::optional<row_state>& now) {
  if (!now) {
    say(key + " has no row, so it has no holder");
    return exit_code::missing;
  }
  say(fmt::format("{} was not released: it is {}, version {}", key, possession_in_words(*now),
                  now->version.number));
  return exit_code::not_done;
}

int release_now(const release_options& options) {
  if (options.asks) return ask_now(options);
  if (!options.forces) {
    throw misuse(
        "give --ask, so that the holder is asked to yield the key, or --force, to take it away");
  }
  const auto& key = options.which.key;
  const std::string name = options.which.in_words();
  std::optional<version> given;
  if (options.expected) given = parse_version(*options.expected);
  check(force_request{.key = key, .version = {}, .reason = options.reason});
  options.confirmed.require_terminal();

  const auto rows = open_store(options.where.database(), table_name{options.where.table});
  const auto row = show(*rows, key);
  if (!row || (!row->owned && !row->is_live())) return refused(name, row);
  const version expected = given.value_or(row->version);
  if (row->version != expected) return refused(name, row);
  if (!options.confirmed.is_given_for(fmt::format("{} is {}, version {}. Take it away?", name,
                                                  possession_in_words(*row), expected.number))) {
    say(name + " was not released");
    return exit_code::not_done;
  }

  const auto result = force_release(*rows, key, expected, options.reason, options.by);
  if (result.answer == force_answer::stale) return refused(name, result.now);
  if (result.answer == force_answer::busy) {
    const auto user = result.now ? result.now->used_by : std::nullopt;
    say("a transaction has the row of " + name + (user ? " (" + *user + ')' : "") +
        ": end its session first, then try again");
    return exit_code::not_done;
  }
  std::cout << printable("released " + name + ", which was " + possession_in_words(*row)) << '\n';
  return exit_code::success;
}

}  // namespace

void add_release(CLI::App& app, action& chosen) {
  const auto [release, options] = add_table_command(
      app, chosen, "release", "Ask for a key, or take it away from its holder", release_now);
  options->which.add_to(*release);
  CLI::Option* const asks =
      release->add_flag("--ask", options->asks, "Ask the holder to yield; nothing is taken away");
  release->add_flag("--force", options->forces, "Take it away: the holder does not agree to it")
      ->excludes(asks);
  add_value(*release, "--reason TEXT", options->reason, "Why; the row keeps it")->required();
  add_value(*release, "--by LABEL", options->by,
            "Label of the person or program; the row keeps it; host:pid if not given");
  add_value(*release, "--version VERSION", options->expected,
            "Only if the key is still at this version, as show gave it")
      ->excludes(asks);
  options->confirmed.add_to(*release);
  release->footer(
      R"(With --ask the holder is asked for the key, and decides when it releases it: rowlock lead ends its term,
rowlock run --on-ask sends its command a signal, a program sees lease::wanted(). It is notified at its next
renewal, on PostgreSQL at once. Others have to wait for the key with rowlock run --wait, for example.

With --force the holder is notified at its next renewal, or when its lease would have run out, and its fences are
refused from now on: nothing that it fences commits. What it does outside the database goes on until it is
notified: if its process still runs and matters, end that first. A row that a transaction has
(a fence, a row lock) is not taken away.

Without --version it is the version that is shown in the question; if the key changes hands before the
answer, nothing is released.

Exit codes: 66 if the key has no row, 75 if it was not released or asked for: the message says why.

Examples:
  rowlock release postgresql://app@db/shop --type service --source cleaner --ask --reason 'deploy'
  rowlock release postgresql://app@db/shop --type invoice --source 42 --force --reason 'web1 is gone')");
}

}  // namespace rowlock::cli
