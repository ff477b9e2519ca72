// rowlock doctor: checks a database before its locks are trusted.
#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/checkup.hpp"
#include "cli/command_tree.hpp"
#include "cli/database_url.hpp"
#include "cli/exit_codes.hpp"
#include "cli/exit_timer.hpp"
#include "cli/options.hpp"
#include "cli/printable.hpp"
#include "cli/shown_row.hpp"

namespace rowlock::cli {

namespace {

constexpr std::chrono::seconds time_to_begin_checks{30};

struct doctor_options {
  table_options where;
  bool json = false;
};

std::string line_of(const std::string& name, const finding& found) {
  std::string line = padded(to_text(found.status), 9) + padded(name, 20) + found.detail;
  if (!found.advice.empty()) line += ": " + found.advice;
  return printable(line);
}

nlohmann::ordered_json object_of(const std::string& name, const finding& found) {
  nlohmann::ordered_json shown{{"name", name},
                               {"status", to_text(found.status)},
                               {"detail", found.detail},
                               {"advice", found.advice}};
  shown.update(found.values);
  return shown;
}

int doctor_now(const doctor_options& options) {
  const auto url = options.where.database();
  const table_name table{options.where.table};
  // A call of the library has its own time limits; this one is for what they do not reach.
  exit_timer timer{"the database does not answer: ended without the other checks"};
  timer.set(exit_code::unavailable, 2 * time_to_begin_checks);
  const auto rows = open_store(url, table);
  const int needed_schema = migrations_for(url, table).back().number;
  auto worst = check_status::ok;
  auto all = nlohmann::ordered_json::array();
  const auto take = [&](const std::string& name, const finding& found) {
    // A check is skipped after another one has failed, or for lack of time.
    const bool is_bad = found.status == check_status::failed;
    if (is_bad || worst == check_status::ok) worst = found.status;
    if (options.json) {
      all.push_back(object_of(name, found));
    } else {
      std::cout << line_of(name, found) << std::endl;  // a check may take seconds
    }
  };
  check_database(*rows, table.text(), needed_schema, time_to_begin_checks, take);
  if (options.json) {
    print_json({{"ok", worst == check_status::ok}, {"checks", std::move(all)}});
  }
  if (worst == check_status::failed) return exit_code::unavailable;
  return worst == check_status::ok ? exit_code::success : exit_code::not_all_well;
}

}  // namespace

void add_doctor(CLI::App& app, action& chosen) {
  const auto [doctor, options] = add_table_command(
      app, chosen, "doctor", "Check a database before its locks are trusted", doctor_now);
  doctor->add_flag("--json", options->json, "One JSON object with all checks");
  doctor->footer(
      R"(Prints a line for each check: ok, warning, failed or skipped, its name, what was found, and what to do
next. A check is skipped if it needs one that did not pass.

  connection        a session can be opened, as a store opens it, and the role may open as many as a
                    store uses
  server            the version is one on which the tests of rowlock ran
  schema            the lock table has the schema version of this command
  table             it is as its migrations make it
  lock_privileges   the role may acquire, renew and release; likewise fence_privileges, list_privileges
                    and purge_privileges (a role that locks need not purge: that is no warning)
  history           whether there is one; history_privileges: the role may write its events
  settings          none of the server's weakens a promise
  round_trip        of a statement that reads the clock: the median and the largest of 11
  clock             the database's differs from this machine's by 200ms at most. No lock depends on that,
                    but a clock that is wrong may be set, and leases then end too soon
  time_left         no lease has more time left than it lasts, as after a clock that was set back
  lease             one can be acquired, renewed and released

It makes and changes no table. The lease has a key that no other run has: type rowlock-doctor. Its row stays,
and purge deletes it. After 30 seconds no check begins any more; the command ends after a minute at most.

--json prints one object: ok (no check but with status ok) and checks, an array of objects with name, status,
detail and advice. Some have more: limit of connection, if it is too low; product and version (an array of numbers) of server; version and needed of
schema; missing of the privileges; recorded of history; weak of settings; median_ms, largest_ms and tries of
round_trip; difference_ms (positive: the database is ahead), uncertainty_ms and bound_ms of clock; clock_faults of time_left; type and
source_id of lease. A member whose value was not found is missing or null.

Exit codes: 0 only if every check is ok, or
   64  wrong usage
   69  a check failed
   74  the output could not be written
   75  none failed, and there are warnings, or checks that were skipped

Examples:
  rowlock doctor sqlite:///var/lib/shop/locks.db
  rowlock doctor postgresql://app@db/shop --table locking.shared_lock
  rowlock doctor postgresql://app@db/shop --json | jq '.checks[] | select(.status != "ok")')");
}

}  // namespace rowlock::cli
