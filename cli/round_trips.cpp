// Round trips to a database, and what they tell of its clock.
#include "cli/round_trips.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "rowlock/lock_table.hpp"

namespace rowlock::cli {

namespace {

using std::chrono::microseconds;

constexpr int tries = 11;

double in_milliseconds(microseconds shown) { return static_cast<double>(shown.count()) / 1000; }

/// `12.345 ms`, of a time that is not negative.
std::string to_text(microseconds shown) {
  auto fraction = std::to_string(shown.count() % 1000);
  fraction.insert(0, 3 - fraction.size(), '0');
  return std::to_string(shown.count() / 1000) + '.' + fraction + " ms";
}

}  // namespace

std::vector<round_trip> measured_round_trips(store& rows) {
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

finding finding_of(const std::vector<round_trip>& measured) {
  const auto median = measured[measured.size() / 2].took;
  const auto largest = measured.back().took;
  return {.detail = "median " + to_text(median) + ", largest " + to_text(largest) + ", of " +
                    std::to_string(measured.size()),
          .values = {{"median_ms", in_milliseconds(median)},
                     {"largest_ms", in_milliseconds(largest)},
                     {"tries", measured.size()}}};
}

finding clock_finding_of(const round_trip& fastest, std::chrono::milliseconds resolution) {
  const auto uncertainty = fastest.took / 2 + resolution;
  const microseconds difference{std::abs(fastest.ahead.count())};
  // A step of the database's clock by less is within the margin of every deadline.
  const auto bound = lock_options{}.margin;
  finding found{.detail = "the database's clock is " + to_text(difference) +
                          (fastest.ahead.count() < 0 ? " behind" : " ahead of") +
                          " this machine's, give or take " + to_text(uncertainty) +
                          "; no lock depends on the difference",
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
