// The checks of rowlock doctor.
#include "cli/checkup.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <utility>
#include <vector>

#include "base/process.hpp"
#include "cli/fault_text.hpp"
#include "cli/say.hpp"
#include "rowlock/error.hpp"
#include "rowlock/lock_table.hpp"

namespace rowlock::cli {

namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;
using std::chrono::steady_clock;
using use = inspection::use;

/// Of a store with the default options: its pool, and one that listens for notifications.
constexpr int most_connections = 5;

/// Of the key, so that two runs do not meet in one row.
constexpr std::size_t random_digits = 8;

finding failed(std::string detail, std::string advice) {
  return {check_status::failed, std::move(detail), std::move(advice)};
}

finding skipped(std::string why) { return {check_status::skipped, std::move(why)}; }

double in_milliseconds(microseconds shown) { return static_cast<double>(shown.count()) / 1000; }

/// `12.345 ms`, of a time that is not negative.
std::string with_unit(microseconds shown) {
  return fmt::format("{}.{:03} ms", shown.count() / 1000, shown.count() % 1000);
}

/// Several, the fastest first.
std::vector<round_trip> measured_round_trips(store& rows) {
  constexpr int tries = 11;
  std::vector<round_trip> measured;
  for (int made = 0; made < tries; ++made) {
    const auto wall = std::chrono::system_clock::now();
    const auto begin = std::chrono::steady_clock::now();
    const auto shown = rows.now();
    const auto took = std::chrono::ceil<microseconds>(std::chrono::steady_clock::now() - begin);
    measured.push_back({took, std::chrono::round<microseconds>(shown - wall) - took / 2});
  }
  std::ranges::sort(measured, {}, &round_trip::took);
  return measured;
}

/// Thread-safety: one thread at a time.
class checkup {
 public:
  checkup(store& rows, const std::string& table, int needed_schema)
      : rows_{rows},
        table_{table},
        needed_schema_{needed_schema},
        key_{"rowlock-doctor",
             detail::holder_label() + ':' + make_owner_id().text.substr(0, random_digits)} {}

  finding connect() {
    found_ = rows_.inspect();
    finding found{.detail = "a session was opened"};
    if (!found_.connection_limit || *found_.connection_limit >= most_connections) return found;
    found.status = check_status::warning;
    found.detail += fmt::format(
        ", and this role may have {} at once, of all its processes, where one store with the "
        "defaults uses up to {}",
        *found_.connection_limit, most_connections);
    found.advice =
        "raise the connection limit of the user, the role or the database, or make pool_size "
        "smaller; with fewer, calls wait for each other, and waits poll";
    found.values["limit"] = *found_.connection_limit;
    return found;
  }

  finding check_server() {
    finding found{.detail = fmt::format("{} {}; {}", found_.product, to_text(found_.version),
                                        known_versions_of(found_.product)),
                  .values = {{"product", found_.product}, {"version", found_.version}}};
    const auto support = support_of(found_.product, found_.version);
    if (support == version_support::not_run) {
      found.status = check_status::warning;
      found.advice = "test your own use of locks there first, or use a version of that list";
    } else if (support == version_support::too_old) {
      found.status = check_status::failed;
      found.advice = "run this program with a newer library";
    }
    return found;
  }

  finding check_schema() {
    const int schema = found_.schema.value_or(0);
    finding found{.detail = fmt::format("version {}, as this rowlock needs it", schema)};
    if (found_.schema != needed_schema_) {
      found = failed(fmt::format("version {}, where this rowlock needs {}", schema, needed_schema_),
                     "start the checks again: it has changed meanwhile");
      if (!found_.schema) found.detail = "no version of table " + table_ + " could be read";
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

  finding check_table() {
    (void)rows_.read(std::array{key_});
    return {.detail = "table " + table_ + " is as its migrations make it"};
  }

  [[nodiscard]] finding rights_for(use needed, const std::string& what) const {
    if (!found_.missing_rights) return skipped("there is no table whose privileges can be read");
    std::vector<std::string> missing;
    for (const auto& each : *found_.missing_rights) {
      if (each.needed_for == needed) missing.push_back(each.right);
    }
    finding found{.detail = "this role may " + what, .values = {{"missing", missing}}};
    if (missing.empty()) return found;
    found.status = check_status::failed;
    found.detail = fmt::format("this role may not {}: it lacks {}", what, fmt::join(missing, ", "));
    const bool has_policy = std::any_of(missing.begin(), missing.end(), [](const auto& right) {
      return right.find(" policy for ") != std::string::npos;
    });
    found.advice =
        fmt::format("grant it{}, or connect as another role; docs/security.md has the roles",
                    has_policy ? " (a policy: CREATE POLICY)" : "");
    return found;
  }

  /// Without this right a change is made, and its event is left out.
  [[nodiscard]] finding check_recording() const {
    auto found = rights_for(use::record, "write the events of its changes");
    if (found.status == check_status::failed) found.status = check_status::warning;
    if (found.status == check_status::ok) {
      found.detail = "a history, where there is one, gets the changes of this role";
    }
    return found;
  }

  /// A role that locks needs no right to delete.
  [[nodiscard]] finding check_purging() const {
    auto found = rights_for(use::purge, "purge");
    if (found.status != check_status::failed) return found;
    found.status = check_status::ok;
    found.detail += ", which only `rowlock purge` needs";
    found.advice.clear();
    return found;
  }

  finding check_history() {
    history_page page;
    try {
      page = rows_.history({.type = key_.type, .source_id = key_.source_id, .limit = 1});
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

  finding check_settings() {
    const auto weak = rows_.weak_settings();
    finding found{.detail = "none weakens a promise", .values = {{"weak", weak}}};
    if (weak.empty()) return found;
    found.status = check_status::warning;
    found.detail =
        fmt::format("{} {} a promise", weak.size(), weak.size() == 1 ? "weakens" : "weaken");
    found.advice = fmt::format("{}", fmt::join(weak, ". "));
    return found;
  }

  finding check_round_trip() {
    round_trips_ = measured_round_trips(rows_);
    const auto median = round_trips_[round_trips_.size() / 2].took;
    const auto largest = round_trips_.back().took;
    return {.detail = fmt::format("median {}, largest {}, of {}", with_unit(median),
                                  with_unit(largest), round_trips_.size()),
            .values = {{"median_ms", in_milliseconds(median)},
                       {"largest_ms", in_milliseconds(largest)},
                       {"tries", round_trips_.size()}}};
  }

  finding check_clock() {
    // SQLite's clock counts in milliseconds; julianday() and the cast each lose up to one.
    return clock_finding_of(round_trips_.front(), found_.product == "SQLite" ? 2ms : 0ms);
  }

  /// Each is shown as held until the database's clock has caught up, whether its holder lives or
  /// not.
  finding check_time_left() {
    constexpr std::size_t most = 10'000;
    std::vector<row_state> held;
    try {
      held = rows_.list({.state = row_filter::held, .limit = most});
    } catch (const error& refused) {
      if (refused.kind() != errc::rejected) throw;
      return skipped("this role may not list" + cause_of(refused, ""));
    }
    std::vector<std::string> faulty;
    for (const auto& row : held) {
      if (row.has_clock_fault()) faulty.push_back(in_words(row.key));
    }
    finding found{.detail = "no lease has more time left than it lasts",
                  .values = {{"clock_faults", faulty.size()}}};
    if (held.size() == most) found.detail += ", of the first " + std::to_string(most);
    if (faulty.empty()) return found;
    found.status = check_status::warning;
    found.detail =
        fmt::format("clock fault: {} {} more time left than it lasts, as {}", faulty.size(),
                    faulty.size() == 1 ? "lease has" : "leases have", faulty.front());
    found.advice =
        "the database's clock was set back: set it right; where the holder is gone, "
        "`rowlock release --force` frees the key";
    return found;
  }

  finding check_lease() {
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

 private:
  store& rows_;
  const std::string& table_;
  const int needed_schema_;
  const lock_key key_;
  inspection found_;
  std::vector<round_trip> round_trips_;
};

struct check {
  std::string name;
  /// The check that must not have failed; empty if there is none.
  std::string needs;
  std::function<finding(checkup&)> run;
  /// The detail after an exception.
  std::string if_thrown;
};

check rights_check(const std::string& name, use needed, const std::string& what) {
  return {name, "connection", [=](checkup& made) { return made.rights_for(needed, what); }, ""};
}

std::vector<check> all_checks() {
  return {{"connection", "", &checkup::connect, "no session could be opened"},
          {"server", "connection", &checkup::check_server, ""},
          {"schema", "connection", &checkup::check_schema, ""},
          {"table", "schema", &checkup::check_table, "the store refuses the table"},
          rights_check("lock_privileges", use::lock, "acquire, renew and release"),
          rights_check("fence_privileges", use::fence, "fence"),
          rights_check("list_privileges", use::list, "list and show"),
          {"purge_privileges", "connection", &checkup::check_purging, ""},
          {"history_privileges", "connection", &checkup::check_recording, ""},
          {"history", "table", &checkup::check_history, "it could not be read"},
          {"settings", "connection", &checkup::check_settings, "they could not be read"},
          {"round_trip", "connection", &checkup::check_round_trip, "the database did not answer"},
          {"clock", "round_trip", &checkup::check_clock, ""},
          {"time_left", "table", &checkup::check_time_left, "the leases could not be read"},
          {"lease", "table", &checkup::check_lease, "a lease could not be used"}};
}

finding result_of(const check& each, checkup& made) {
  try {
    return each.run(made);
  } catch (const error& thrown) {
    if (thrown.kind() == errc::misuse) throw;
    return failed(each.if_thrown, fault_text(thrown));
  }
}

}  // namespace

std::string to_text(check_status shown) {
  constexpr std::array words{"ok", "warning", "failed", "skipped"};
  return words.at(static_cast<std::size_t>(shown));
}

void check_database(store& rows, const std::string& table, int needed_schema,
                    std::chrono::seconds limit, const finding_sink& report) {
  const auto end = steady_clock::now() + limit;
  checkup made{rows, table, needed_schema};
  std::set<std::string> not_passed;
  for (const auto& each : all_checks()) {
    finding found;
    if (steady_clock::now() > end) {
      found = skipped("no time was left for it");
    } else if (not_passed.contains(each.needs)) {
      found = skipped("it needs the check " + each.needs);
    } else {
      found = result_of(each, made);
    }
    if (found.status == check_status::failed || found.status == check_status::skipped) {
      not_passed.insert(each.name);
    }
    found.detail = without_passwords(std::move(found.detail));
    found.advice = without_passwords(std::move(found.advice));
    report(each.name, found);
  }
}

finding clock_finding_of(const round_trip& fastest, std::chrono::milliseconds resolution) {
  const auto uncertainty = fastest.took / 2 + resolution;
  const microseconds difference{std::abs(fastest.ahead.count())};
  // A step of the database's clock by less is within the margin of every deadline.
  const auto bound = lock_options{}.margin;
  const char* const side = fastest.ahead.count() < 0 ? "behind" : "ahead of";
  finding found{
      .detail = fmt::format("the database's clock is {} {} this machine's, give or take {}; "
                            "no lock depends on the difference",
                            with_unit(difference), side, with_unit(uncertainty)),
      .values = {{"difference_ms", in_milliseconds(fastest.ahead)},
                 {"uncertainty_ms", in_milliseconds(uncertainty)},
                 {"bound_ms", in_milliseconds(bound)}}};
  if (difference - uncertainty <= bound) return found;
  found.status = check_status::warning;
  found.advice =
      "one of the two clocks is wrong: if the database's is set forward, leases end before their "
      "holders expect it; synchronise both with NTP, and do it slowly (slew)";
  return found;
}

}  // namespace rowlock::cli
