// The period of the history that a command reads, by a clock of the database that the test sets.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "cli/options.hpp"
#include "rowlock/error.hpp"

namespace rowlock::cli {
namespace {

using namespace std::chrono;
using namespace std::chrono_literals;

constexpr database_time noon{sys_days{2026y / 1 / 31} + 12h};
constexpr database_time much_later{sys_days{2031y / 6 / 1}};
constexpr auto at_noon = "2026-01-31T12:00:00Z";

history_request of(const period_options& period, database_time now) {
  period.check_any_time({});
  return period.of({}, now);
}

bool is_refused(const period_options& period, database_time now) {
  try {
    (void)period.of({}, now);
  } catch (const error& thrown) {
    return thrown.kind() == errc::misuse;
  }
  return false;
}

bool is_refused_at_any_time(const period_options& period) {
  try {
    period.check_any_time({});
  } catch (const error& thrown) {
    return thrown.kind() == errc::misuse;
  }
  return false;
}

TEST(PeriodOptions, BeginsADayBeforeItsEndUnlessSaidOtherwise) {
  EXPECT_EQ(of({}, noon).since, noon - 24h);
  EXPECT_EQ(of({}, noon).until, std::nullopt);
  const auto absolute = of({.until = at_noon}, much_later);
  EXPECT_EQ(absolute.since, noon - 24h);
  EXPECT_EQ(absolute.until, noon);
  const auto relative = of({.until = "2d"}, noon);
  EXPECT_EQ(relative.since, noon - 72h);
  EXPECT_EQ(relative.until, noon - 48h);
  EXPECT_EQ(of({.until = "1970-01-01T01:00:00Z"}, noon).since, database_time{});
}

TEST(PeriodOptions, ATimeAndADurationAreComparedByTheDatabasesClock) {
  const period_options until_noon{.since = "1h", .until = at_noon};
  EXPECT_EQ(of(until_noon, noon + 30min).since, noon - 30min);
  EXPECT_TRUE(is_refused(until_noon, noon + 61min));
  const period_options since_noon{.since = at_noon, .until = "1h"};
  EXPECT_EQ(of(since_noon, noon + 61min).until, noon + 1min);
  EXPECT_TRUE(is_refused(since_noon, noon + 59min));
}

TEST(PeriodOptions, WhatIsWrongAtAnyTimeIsSaidBeforeTheDatabaseIsAsked) {
  EXPECT_TRUE(is_refused_at_any_time({.since = "1h", .until = "2h"}));
  EXPECT_TRUE(is_refused_at_any_time({.since = at_noon, .until = "2026-01-31T11:00:00Z"}));
  EXPECT_TRUE(is_refused_at_any_time({.since = "yesterday"}));
  EXPECT_TRUE(is_refused_at_any_time({.until = "tomorrow"}));
  EXPECT_TRUE(is_refused_at_any_time({.since = "1969-12-31T23:59:59Z", .until = "1h"}));
  EXPECT_TRUE(is_refused_at_any_time({.since = "1h", .until = "1969-12-31T23:59:59Z"}));
}

}  // namespace
}  // namespace rowlock::cli
