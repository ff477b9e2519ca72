// Round trips to a database, and what they tell of its clock.
#ifndef ROWLOCK_CLI_ROUND_TRIPS_HPP
#define ROWLOCK_CLI_ROUND_TRIPS_HPP

#include <chrono>
#include <vector>

#include "cli/finding.hpp"
#include "rowlock/port/store.hpp"

namespace rowlock::cli {

struct round_trip {
  std::chrono::microseconds took{};
  /// How far the database's clock is ahead of this machine's, if both ways took as long.
  std::chrono::microseconds ahead{};
};

/// Several, the fastest first. Throws `error`.
std::vector<round_trip> measured_round_trips(store& rows);

finding finding_of(const std::vector<round_trip>& measured);

/// Of the fastest. `resolution` is how exactly the database says what its clock shows.
finding clock_finding_of(const round_trip& fastest, std::chrono::milliseconds resolution);

}  // namespace rowlock::cli

#endif
