// rowlock purge: deletes idle rows.
#include <CLI/CLI.hpp>
#include <iostream>
#include <string>
#include <vector>

#include "cli/command_tree.hpp"
#include "cli/database_url.hpp"
#include "cli/duration.hpp"
#include "cli/exit_codes.hpp"
#include "cli/exit_timer.hpp"
#include "cli/options.hpp"
#include "cli/say.hpp"
#include "cli/signal_queue.hpp"
#include "cli/values.hpp"
#include "rowlock/operators.hpp"

namespace rowlock::cli {

namespace {

struct purge_options {
  table_options where;
  std::string older_than;
  bool is_of_history = false;
  confirmation confirmed;
};

std::string counted(std::size_t number, const std::string& what) {
  return std::to_string(number) + ' ' + what + (number == 1 ? "" : "s");
}

std::string question_of(const purge_options& options) {
  return options.is_of_history ? "Delete the events of " + options.where.table +
                                     "_event that are older than " + options.older_than + "?"
                               : "Delete the idle rows of " + options.where.table +
                                     " that were not used for " + options.older_than + "?";
}

std::string refusal_of(const purge_result& result) {
  std::vector<std::string> keys;
  for (const auto& key : result.refused_keys) keys.push_back(in_words(key));
  return fmt::format(
      "the database refused to delete {}, because a foreign key of another table refers to it, or "
      "by "
      "a trigger: {}{}",
      counted(result.refused, "row"), fmt::join(keys, ", "),
      result.refused > keys.size() ? " and others" : "");
}

/// A job with the wrong table would never notice.
void require_history(store& rows) {
  if (rows.history({.limit = 1}).is_recorded) return;
  throw error{errc::rejected,
              "this database has no history: `rowlock migrate <URL> --with history` begins one"};
}

int purge_now(const purge_options& options) {
  const auto older_than = parse_duration("--older-than", options.older_than);
  if (options.is_of_history) {
    check(history_purge_request{.older_than = older_than});
  } else {
    check(purge_request{.older_than = older_than});
  }
  const table_name table{options.where.table};
  const auto url = options.where.database();
  options.confirmed.require_terminal();
  if (!options.confirmed.is_given_for(question_of(options))) {
    say("nothing was purged");
    return exit_code::not_done;
  }

  signal_queue signals;
  exit_timer timer{"the database does not answer: ended without it; run it again to go on"};
  interruptible_wait waiting{signals, timer};
  const auto rows = open_store(url, table);
  if (options.is_of_history) require_history(*rows);
  const auto chosen = options.is_of_history ? purge_history : rowlock::purge;
  const auto result = chosen(*rows, older_than, purge_request{}.limit, waiting.stop());
  const std::string what = options.is_of_history ? "event" : "row";
  std::cout << "purged " << counted(result.purged, what) << '\n';
  if (result.refused > 0) say(refusal_of(result));
  if (result.is_complete) return exit_code::success;
  say("stopped before all " + what + "s were looked at; run it again to go on");
  return exit_code::ended_by_signal(waiting.end().value_or(0));
}

}  // namespace

void add_purge(CLI::App& app, action& chosen) {
  const auto [purge, options] = add_table_command(
      app, chosen, "purge", "Delete the rows of keys that are no longer used", purge_now);
  add_value(*purge, "--older-than DURATION", options->older_than,
            "Not used for so long; 1h or more")
      ->required();
  purge->add_flag("--history", options->is_of_history,
                  "Delete old events of the history instead of rows");
  options->confirmed.add_to(*purge);
  purge->footer(
      R"(Deletes rows that are neither held, closed nor remembered as done, a thousand at a time, each time in a
transaction of its own. No process has to stop for it. A key that comes back gets a greater version than
before, as long as the database's clock is not set back by the time given. A signal ends it between two
batches, or two seconds later if the database does not answer; running it again goes on. Rows that the database
refuses to delete, because a foreign key of another table refers to them, stay and are named.

With --history it deletes the events that are so old, the oldest first, in the same batches.

Exit codes: 75 if the answer was no, 128 + n if signal n ended it.

Example:
  rowlock purge postgresql://app@db/shop --older-than 30d --yes
  rowlock purge postgresql://app@db/shop --history --older-than 90d --yes)");
}

}  // namespace rowlock::cli
