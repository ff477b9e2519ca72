// Which thread makes the statement of calls that meet, moment by moment.
#include "batch/batch_schedule.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <future>
#include <thread>
#include <vector>

namespace rowlock::detail {
namespace {

using namespace std::chrono_literals;

using role = batched_call::role;

class BatchSchedule : public testing::Test {
 protected:
  static constexpr auto acquire = statement_kind::acquire;

  static constexpr batch_linger::limits patient{.part = 1e7, .shortest = 0ms, .longest = 24h};
  static constexpr batch_linger::limits none_is_quick{.part = 0, .shortest = 0ms};
  static constexpr batch_linger::limits all_are_quick{.part = 0, .shortest = 24h, .longest = 24h};

  static std::future<role> start(batch_schedule& statements, batched_call& call) {
    return std::async(std::launch::async, [&] { return statements.join(call); });
  }
  /// Returns once it waits.
  static std::future<role> start_waiting(batch_schedule& statements, batched_call& call) {
    const auto waiting = statements.waiting() + 1;
    auto started = start(statements, call);
    while (statements.waiting() < waiting) std::this_thread::yield();
    return started;
  }

  batched_call first_{acquire, 1};
  batched_call second_{acquire, 1};
  batched_call third_{acquire, 2};
};

TEST_F(BatchSchedule, NoneBeginsBesideOneThatTakesNoLongerThanUsual) {
  batch_schedule statements{{.in_flight = 4, .at_most = 256, .usual_time = 24h}, none_is_quick};
  batched_call release{statement_kind::release, 1};
  ASSERT_EQ(statements.join(first_), role::leading);
  auto second = start_waiting(statements, second_);
  auto third = start_waiting(statements, release);
  statements.end(first_, role::answered);
  EXPECT_EQ(second.get(), role::leading);
  EXPECT_EQ(second_.next, nullptr);
  EXPECT_EQ(statements.waiting(), 1);
  statements.end(second_, role::answered);
  EXPECT_EQ(third.get(), role::leading);
}

TEST_F(BatchSchedule, OthersBeginBesideOneThatTakesLonger) {
  batch_schedule statements{{.in_flight = 4, .at_most = 256, .usual_time = 20ms}, none_is_quick};
  ASSERT_EQ(statements.join(first_), role::leading);
  ASSERT_EQ(statements.join(second_), role::leading);
  statements.end(second_, role::answered);
  EXPECT_EQ(statements.join(third_), role::leading);
}

TEST_F(BatchSchedule, WhereTooFewAskForSharingToPayTheyRunBesideEachOther) {
  batch_schedule statements{{.in_flight = 4, .at_most = 256, .pays_from = 3, .usual_time = 24h},
                            none_is_quick};
  ASSERT_EQ(statements.join(first_), role::leading);
  ASSERT_EQ(statements.join(second_), role::leading);
  auto third = start_waiting(statements, third_);
  statements.end(first_, role::answered);
  statements.end(second_, role::answered);
  EXPECT_EQ(third.get(), role::leading);
}

TEST_F(BatchSchedule, ThoseThatFollowAreToldWhatBecameOfThem) {
  batch_schedule statements{{.in_flight = 4, .at_most = 256, .usual_time = 24h}, none_is_quick};
  ASSERT_EQ(statements.join(first_), role::leading);
  auto second = start_waiting(statements, second_);
  auto third = start_waiting(statements, third_);
  statements.end(first_, role::answered);
  ASSERT_EQ(second.get(), role::leading);
  EXPECT_EQ(second_.next, &third_);
  statements.end(second_, role::alone);
  EXPECT_EQ(third.get(), role::alone);
}

TEST_F(BatchSchedule, WhoIsTooMuchForOneLeadsTheNextOne) {
  batch_schedule statements{{.in_flight = 4, .at_most = 2, .usual_time = 24h}, none_is_quick};
  ASSERT_EQ(statements.join(first_), role::leading);
  auto second = start_waiting(statements, second_);
  auto third = start_waiting(statements, third_);
  statements.end(first_, role::answered);
  ASSERT_EQ(second.get(), role::leading);
  EXPECT_EQ(second_.next, nullptr);
  EXPECT_EQ(statements.waiting(), 1);
  statements.end(second_, role::answered);
  EXPECT_EQ(third.get(), role::leading);
}

TEST_F(BatchSchedule, WhereFewAskAndStatementsAreQuickTheyRunBesideEachOther) {
  batch_schedule statements{{.in_flight = 4, .at_most = 256, .usual_time = 24h}, all_are_quick};
  batched_call fourth{acquire, 1};
  batched_call release{statement_kind::release, 1};
  ASSERT_EQ(statements.join(first_), role::leading);
  statements.end(first_, role::answered);
  ASSERT_EQ(statements.join(first_), role::leading);
  ASSERT_EQ(statements.join(second_), role::leading);
  ASSERT_EQ(statements.join(third_), role::leading);
  auto waiting = start_waiting(statements, fourth);
  ASSERT_EQ(statements.join(release), role::leading) << "has a place of its own";
  statements.end(release, role::answered);
  EXPECT_EQ(statements.waiting(), 1);
  statements.end(second_, role::answered);
  EXPECT_EQ(waiting.get(), role::leading);
}

TEST_F(BatchSchedule, NoneBeginsBesideALargeOneNorWhereManyAsk) {
  batch_schedule statements{{.in_flight = 4, .at_most = 256, .usual_time = 24h}, all_are_quick};
  std::deque<batched_call> many;
  std::vector<std::future<role>> fates;
  ASSERT_EQ(statements.join(first_), role::leading);
  for (int i = 0; i < 5; ++i) {
    fates.push_back(start_waiting(statements, many.emplace_back(acquire, 1)));
  }
  statements.end(first_, role::answered);
  ASSERT_EQ(fates[0].get(), role::leading);
  auto beside_a_large_one = start_waiting(statements, second_);
  statements.end(many[0], role::answered);
  ASSERT_EQ(beside_a_large_one.get(), role::leading);
  auto beside_many_calls = start_waiting(statements, third_);
  statements.end(second_, role::answered);
  EXPECT_EQ(beside_many_calls.get(), role::leading);
}

TEST_F(BatchSchedule, FewerThanShareToTheirAdvantageGoSideBySideHoweverLongTheyTake) {
  batch_schedule statements{{.in_flight = 8, .at_most = 256, .pays_from = 3, .usual_time = 24h},
                            none_is_quick};
  ASSERT_EQ(statements.join(first_), role::leading);
  ASSERT_EQ(statements.join(second_), role::leading);
  auto third = start_waiting(statements, third_);
  statements.end(first_, role::answered);
  EXPECT_EQ(third.get(), role::leading) << "with the one that is under way they are two";
  statements.end(second_, role::answered);
  statements.end(third_, role::answered);
  EXPECT_EQ(statements.waiting(), 0);
}

TEST_F(BatchSchedule, ALeaderWaitsForThoseWhoWereAnsweredLast) {
  batch_schedule statements{{.in_flight = 4, .at_most = 256, .usual_time = 24h}, patient};
  ASSERT_EQ(statements.join(first_), role::leading);
  auto second = start_waiting(statements, second_);
  statements.end(first_, role::answered);
  auto third = start(statements, third_);  // comes instead of the first
  ASSERT_EQ(second.get(), role::leading);
  EXPECT_EQ(second_.next, &third_);
  statements.end(second_, role::answered);
  EXPECT_EQ(third.get(), role::answered);
}

TEST_F(BatchSchedule, ALeaderDoesNotWaitForThoseWhoMakeTheirCallsAlone) {
  batch_schedule statements{{.in_flight = 4, .at_most = 256, .usual_time = 24h}, patient};
  ASSERT_EQ(statements.join(first_), role::leading);
  auto second = start_waiting(statements, second_);
  statements.end(first_, role::alone);
  EXPECT_EQ(second.get(), role::leading);
}

TEST_F(BatchSchedule, ALeaderWhoseStatementIsFullDoesNotWait) {
  batch_schedule statements{{.in_flight = 4, .at_most = 1, .usual_time = 24h}, patient};
  ASSERT_EQ(statements.join(first_), role::leading);
  auto second = start_waiting(statements, second_);
  statements.end(first_, role::answered);
  EXPECT_EQ(second.get(), role::leading);
}

TEST_F(BatchSchedule, WhatMayRunBesideANewOneBeginsWithIt) {
  batch_schedule statements{{.in_flight = 4, .at_most = 256, .usual_time = 24h}, all_are_quick};
  batched_call release{statement_kind::release, 1};
  ASSERT_EQ(statements.join(first_), role::leading);
  auto acquiring = start_waiting(statements, second_);
  auto releasing = start_waiting(statements, release);
  statements.end(first_, role::answered);
  EXPECT_EQ(acquiring.get(), role::leading);
  EXPECT_EQ(releasing.get(), role::leading);
}

TEST_F(BatchSchedule, TheLastPlaceIsKeptFromAcquisitionsOnlyIfTheyHaveTheOthers) {
  batch_schedule statements{{.in_flight = 2, .at_most = 256, .usual_time = 24h}, all_are_quick};
  batched_call release{statement_kind::release, 1};
  ASSERT_EQ(statements.join(first_), role::leading);
  statements.end(first_, role::answered);
  ASSERT_EQ(statements.join(release), role::leading);
  EXPECT_EQ(statements.join(second_), role::leading);
}

}  // namespace
}  // namespace rowlock::detail
