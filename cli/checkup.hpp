// The checks of rowlock doctor.
#ifndef ROWLOCK_CLI_CHECKUP_HPP
#define ROWLOCK_CLI_CHECKUP_HPP

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "rowlock/port/store.hpp"

namespace rowlock::cli {

enum class check_status { ok, warning, failed, skipped };

/// `ok`, `warning`, `failed`, `skipped`.
std::string to_text(check_status shown);

/// What a check has found.
struct finding {
  check_status status = check_status::ok;
  std::string detail;
  /// What may go wrong, and what to do next; empty if all is well.
  std::string advice = {};
  /// The members of the check's JSON object, beside those above.
  nlohmann::ordered_json values = nlohmann::ordered_json::object();
};

/// Called for each check, as soon as it is over. A name does not change between releases.
using finding_sink = std::function<void(const std::string& name, const finding& found)>;

/// Runs all checks of one database, in the same order each time. One that needs another check is
/// skipped if that did not pass; none begins after `limit`. It writes one row, of a lease that it
/// acquires, renews and releases; the row stays.
///
/// `needed_schema` is the last migration that this program knows. Throws `error` (misuse) for a URL
/// that the driver does not take.
void check_database(store& rows, const std::string& table, int needed_schema,
                    std::chrono::seconds limit, const finding_sink& report);

struct round_trip {
  std::chrono::microseconds took{};
  /// How far the database's clock is ahead of this machine's, if both ways took as long.
  std::chrono::microseconds ahead{};
};

/// What the fastest round trip says of the clocks. `resolution` is how exactly the database says
/// what its clock shows.
finding clock_finding_of(const round_trip& fastest, std::chrono::milliseconds resolution);

// known_versions.cpp: the versions of databases on which the tests of rowlock ran.

/// Major number first.
using version_numbers = std::vector<int>;

enum class version_support {
  known,    ///< Among those on which the tests ran.
  not_run,  ///< The library accepts it, and the tests did not run on it.
  too_old,  ///< The statements do not work there.
};

/// A server that is too old accepts no session, so `too_old` is for SQLite alone: the program may
/// have another version than it was built with. `product` is that of an `inspection`.
version_support support_of(std::string_view product, const version_numbers& version);

/// `the tests of rowlock ran on 14 to 18`.
std::string known_versions_of(std::string_view product);

/// `15.18`.
std::string to_text(const version_numbers& version);

}  // namespace rowlock::cli

#endif
