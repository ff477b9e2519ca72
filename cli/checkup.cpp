// The checks of rowlock doctor.
#include "cli/checkup.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <optional>
#include <utility>

#include "base/never_destroyed.hpp"
#include "base/process.hpp"
#include "cli/fault_text.hpp"
#include "cli/known_versions.hpp"
#include "cli/say.hpp"
#include "cli/shell_text.hpp"
#include "rowlock/error.hpp"

namespace rowlock::cli {

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using use = inspection::use;

/// Of a store with the default options: its pool, and one that listens for notifications.
constexpr int most_connections = 5;

/// Of the key, so that two runs do not meet in one row.
constexpr std::size_t random_digits = 8;

}  // namespace

struct checkup::check {
  const char* name;
  /// The check that must not have failed; empty if there is none.
  const char* needs;
  finding (checkup::*run)();
  /// The detail after an exception.
  const char* if_thrown;
};

const std::vector<checkup::check>& checkup::checks() {
  static const auto& all = detail::never_destroyed<const std::vector<check>>(std::vector<check>{
      {"connection", "", &checkup::connect, "no session could be opened"},
      {"server", "connection", &checkup::check_server, ""},
      {"schema", "connection", &checkup::check_schema, ""},
      {"table", "schema", &checkup::check_table, "the store refuses the table"},
      {"lock_privileges", "connection", &checkup::check_locking, ""},
      {"fence_privileges", "connection", &checkup::check_fencing, ""},
      {"list_privileges", "connection", &checkup::check_listing, ""},
      {"purge_privileges", "connection", &checkup::check_purging, ""},
      {"history_privileges", "connection", &checkup::check_recording, ""},
      {"history", "table", &checkup::check_history, "it could not be read"},
      {"settings", "connection", &checkup::check_settings, "they could not be read"},
      {"round_trip", "connection", &checkup::check_round_trip, "the database did not answer"},
      {"clock", "round_trip", &checkup::check_clock, ""},
      {"time_left", "table", &checkup::check_time_left, "the leases could not be read"},
      {"lease", "table", &checkup::check_lease, "a lease could not be used"}});
  return all;
}

checkup::checkup(store& rows, std::string table, int needed_schema, std::chrono::seconds limit)
    : rows_{rows},
      table_{std::move(table)},
      needed_schema_{needed_schema},
      limit_{limit},
      key_{"rowlock-doctor",
           detail::holder_label() + ':' + make_owner_id().text.substr(0, random_digits)} {}

void checkup::run(const sink& report) {
  const auto end = steady_clock::now() + limit_;
  for (const auto& each : checks()) {
    auto found = steady_clock::now() > end ? skipped("no time was left for it") : result_of(each);
    if (found.status == check_status::failed || found.status == check_status::skipped) {
      not_passed_.insert(each.name);
    }
    found.detail = without_passwords(std::move(found.detail));
    found.advice = without_passwords(std::move(found.advice));
    report(each.name, found);
  }
}

finding checkup::result_of(const check& made) {
  if (not_passed_.contains(made.needs))
    return skipped(std::string{"it needs the check "} + made.needs);
  try {
    return (this->*made.run)();
  } catch (const error& thrown) {
    if (thrown.kind() == errc::misuse) throw;
    return failed(made.if_thrown, fault_text(thrown));
  }
}

finding checkup::connect() {
  found_ = rows_.inspect();
  finding found{.detail = "a session was opened"};
  if (!found_.connection_limit || *found_.connection_limit >= most_connections) return found;
  found.status = check_status::warning;
  found.detail += ", and this role may have " + std::to_string(*found_.connection_limit) +
                  " at once, of all its processes, where one store with the defaults uses up to " +
                  std::to_string(most_connections);
  found.advice =
      "raise the connection limit of the user, the role or the database, or make pool_size "
      "smaller; with fewer, calls wait for each other, and waits poll";
  found.values["limit"] = *found_.connection_limit;
  return found;
}

finding checkup::check_server() {
  finding found{.detail = found_.product + ' ' + to_text(found_.version) + "; " +
                          known_versions_of(found_.product),
                .values = {{"product", found_.product}, {"version", found_.version}}};
  switch (support_of(found_.product, found_.version)) {
    case version_support::known:
      break;
    case version_support::not_run:
      found.status = check_status::warning;
      found.advice = "test your own use of locks there first, or use a version of that list";
      break;
    case version_support::too_old:
      found.status = check_status::failed;
      found.advice = "run this program with a newer library";
  }
  return found;
}

finding checkup::check_schema() {
  finding found{.detail = "version " + std::to_string(found_.schema.value_or(0)) +
                          ", as this rowlock needs it"};
  if (found_.schema != needed_schema_) {
    found =
        failed(found_.schema ? "version " + std::to_string(*found_.schema) +
                                   ", where this rowlock needs " + std::to_string(needed_schema_)
                             : "no version of table " + table_ + " could be read",
               "start the checks again: it has changed meanwhile");
    try {
      (void)rows_.read(std::array{key_});
    } catch (const error& refused) {
      found.advice = fault_text(refused);
    }
  }
  found.values["version"] = found_.schema ? nlohmann::ordered_json(*found_.schema) : nullptr;
  found.values["needed"] = needed_schema_;
  return found;
}

finding checkup::check_table() {
  (void)rows_.read(std::array{key_});
  return {.detail = "table " + table_ + " is as its migrations make it"};
}

finding checkup::rights_for(use needed, const std::string& what) const {
  if (!found_.missing_rights) return skipped("there is no table whose privileges can be read");
  std::vector<std::string> missing;
  for (const auto& each : *found_.missing_rights) {
    if (each.needed_for == needed) missing.push_back(each.right);
  }
  finding found{.detail = "this role may " + what, .values = {{"missing", missing}}};
  if (missing.empty()) return found;
  found.status = check_status::failed;
  found.detail = "this role may not " + what + ": it lacks " + joined(missing, ", ");
  const bool has_policy = std::any_of(missing.begin(), missing.end(), [](const auto& right) {
    return right.find(" policy for ") != std::string::npos;
  });
  found.advice = "grant it" + std::string{has_policy ? " (a policy: CREATE POLICY)" : ""} +
                 ", or connect as another role; docs/security.md has the roles";
  return found;
}

finding checkup::check_locking() { return rights_for(use::lock, "acquire, renew and release"); }

finding checkup::check_fencing() { return rights_for(use::fence, "fence"); }

/// Without this right a change is made, and its event is left out.
finding checkup::check_recording() {
  auto found = rights_for(use::record, "write the events of its changes");
  if (found.status == check_status::failed) found.status = check_status::warning;
  if (found.status == check_status::ok) {
    found.detail = "a history, where there is one, gets the changes of this role";
  }
  return found;
}

finding checkup::check_listing() { return rights_for(use::list, "list and show"); }

/// A role that locks needs no right to delete.
finding checkup::check_purging() {
  auto found = rights_for(use::purge, "purge");
  if (found.status != check_status::failed) return found;
  found.status = check_status::ok;
  found.detail += ", which only `rowlock purge` needs";
  found.advice.clear();
  return found;
}

finding checkup::check_history() {
  history_page page;
  try {
    page = rows_.history({.type = key_.type, .source_id = key_.source_id, .at_most = 1});
  } catch (const error& refused) {
    // SQLite has no roles: there it is a table of another form.
    if (refused.kind() != errc::rejected || found_.product == "SQLite") throw;
    return {.detail = "it cannot be read, which no lock needs" + cause_of(refused, ""),
            .values = {{"recorded", nullptr}}};
  }
  finding found{.detail = "none; `rowlock migrate --with history` begins one",
                .values = {{"recorded", page.is_recorded && !page.is_ended}}};
  if (page.is_ended) {
    found.detail = "it was ended; `rowlock migrate --with history` begins it again";
  } else if (page.is_recorded) {
    found.detail = "what is done with locks is recorded";
  }
  return found;
}

finding checkup::check_settings() {
  const auto weak = rows_.weak_settings();
  finding found{.detail = "none weakens a promise", .values = {{"weak", weak}}};
  if (weak.empty()) return found;
  found.status = check_status::warning;
  found.detail =
      std::to_string(weak.size()) + (weak.size() == 1 ? " weakens a promise" : " weaken a promise");
  found.advice = joined(weak, ". ");
  return found;
}

finding checkup::check_round_trip() {
  round_trips_ = measured_round_trips(rows_);
  return finding_of(round_trips_);
}

finding checkup::check_clock() {
  // SQLite's clock counts in milliseconds; julianday() and the cast each lose up to one.
  return clock_finding_of(round_trips_.front(), found_.product == "SQLite" ? 2ms : 0ms);
}

/// Each is shown as held until the database's clock has caught up, whether its holder lives or not.
finding checkup::check_time_left() {
  constexpr std::size_t most = 10'000;
  std::vector<row_state> held;
  try {
    held = rows_.list({.state = row_filter::held, .at_most = most});
  } catch (const error& refused) {
    if (refused.kind() != errc::rejected) throw;
    return skipped("this role may not list" + cause_of(refused, ""));
  }
  std::vector<std::string> faulty;
  for (const auto& row : held) {
    if (row.has_clock_fault()) faulty.push_back(row.key.type + '/' + row.key.source_id);
  }
  finding found{.detail = "no lease has more time left than it lasts",
                .values = {{"clock_faults", faulty.size()}}};
  if (held.size() == most) found.detail += ", of the first " + std::to_string(most);
  if (faulty.empty()) return found;
  found.status = check_status::warning;
  found.detail = "clock fault: " + std::to_string(faulty.size()) +
                 (faulty.size() == 1 ? " lease has" : " leases have") +
                 " more time left than it lasts, as " + faulty.front();
  found.advice =
      "the database's clock was set back: set it right; where the holder is gone, `rowlock release "
      "--force` frees the key";
  return found;
}

finding checkup::check_lease() {
  constexpr auto ttl = 10s;
  const std::string frees_itself = "it frees itself within 10s; start the checks again";
  const auto owner = make_owner_id();
  const auto granted =
      rows_
          .acquire(std::array{acquire_request{
              .key = key_, .owner = owner, .holder = detail::holder_label(), .ttl = ttl}})
          .front();
  if (granted.status != acquire_status::granted || !granted.version) {
    return failed("a key that no other process uses was refused",
                  "start the checks again when the database is less busy");
  }
  const auto renewed = rows_.renew(std::array{
      renew_request{.key = key_, .owner = owner, .version = *granted.version, .ttl = ttl}});
  const auto released = rows_.release(
      std::array{release_request{.key = key_, .owner = owner, .version = *granted.version}});
  if (renewed.front() != change_answer::done) return failed("it was not renewed", frees_itself);
  if (released.front() != change_answer::done) return failed("it was not released", frees_itself);
  return {.detail = "acquired, renewed and released " + key_.type + ' ' + key_.source_id +
                    "; its row stays, and `rowlock purge` deletes it",
          .values = {{"type", key_.type}, {"source_id", key_.source_id}}};
}

}  // namespace rowlock::cli
