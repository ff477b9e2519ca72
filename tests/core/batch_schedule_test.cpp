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

using fate = meeting_call::fate;

class SharedStatements : public testing::Test {
 protected:
  static constexpr auto acquire = statement_kind::acquire;

  static constexpr company::patience patient{.part = 1e7, .shortest = 0ms, .longest = 24h};
  static constexpr company::patience none_is_quick{.part = 0, .shortest = 0ms};
  static constexpr company::patience all_are_quick{.part = 0, .shortest = 24h, .longest = 24h};

  static std::future<fate> start(shared_statements& statements, meeting_call& call) {
    return std::async(std::launch::async, [&] { return statements.meet(call); });
  }
  /// Returns once it waits.
  static std::future<fate> start_waiting(shared_statements& statements, meeting_call& call) {
    const auto waiting = statements.waiting() + 1;
    auto started = start(statements, call);
    while (statements.waiting() < waiting) std::this_thread::yield();
    return started;
  }

  meeting_call first_{acquire, 1};
  meeting_call second_{acquire, 1};
  meeting_call third_{acquire, 2};
};

TEST_F(SharedStatements, NoneBeginsBesideOneThatTakesNoLongerThanUsual) {
  shared_statements statements{{.in_flight = 4, .at_most = 256, .usual_time = 24h}, none_is_quick};
  meeting_call release{statement_kind::release, 1};
  ASSERT_EQ(statements.meet(first_), fate::leading);
  auto second = start_waiting(statements, second_);
  auto third = start_waiting(statements, release);
  statements.end(first_, fate::answered);
  EXPECT_EQ(second.get(), fate::leading);
  EXPECT_EQ(second_.next, nullptr);
  EXPECT_EQ(statements.waiting(), 1);
  statements.end(second_, fate::answered);
  EXPECT_EQ(third.get(), fate::leading);
}

TEST_F(SharedStatements, OthersBeginBesideOneThatTakesLonger) {
  shared_statements statements{{.in_flight = 4, .at_most = 256, .usual_time = 20ms}, none_is_quick};
  ASSERT_EQ(statements.meet(first_), fate::leading);
  ASSERT_EQ(statements.meet(second_), fate::leading);
  statements.end(second_, fate::answered);
  EXPECT_EQ(statements.meet(third_), fate::leading);
}

TEST_F(SharedStatements, WhereTooFewAskForSharingToPayTheyRunBesideEachOther) {
  shared_statements statements{{.in_flight = 4, .at_most = 256, .pays_from = 3, .usual_time = 24h},
                               none_is_quick};
  ASSERT_EQ(statements.meet(first_), fate::leading);
  ASSERT_EQ(statements.meet(second_), fate::leading);
  auto third = start_waiting(statements, third_);
  statements.end(first_, fate::answered);
  statements.end(second_, fate::answered);
  EXPECT_EQ(third.get(), fate::leading);
}

TEST_F(SharedStatements, ThoseThatFollowAreToldWhatBecameOfThem) {
  shared_statements statements{{.in_flight = 4, .at_most = 256, .usual_time = 24h}, none_is_quick};
  ASSERT_EQ(statements.meet(first_), fate::leading);
  auto second = start_waiting(statements, second_);
  auto third = start_waiting(statements, third_);
  statements.end(first_, fate::answered);
  ASSERT_EQ(second.get(), fate::leading);
  EXPECT_EQ(second_.next, &third_);
  statements.end(second_, fate::alone);
  EXPECT_EQ(third.get(), fate::alone);
}

TEST_F(SharedStatements, WhoIsTooMuchForOneLeadsTheNextOne) {
  shared_statements statements{{.in_flight = 4, .at_most = 2, .usual_time = 24h}, none_is_quick};
  ASSERT_EQ(statements.meet(first_), fate::leading);
  auto second = start_waiting(statements, second_);
  auto third = start_waiting(statements, third_);
  statements.end(first_, fate::answered);
  ASSERT_EQ(second.get(), fate::leading);
  EXPECT_EQ(second_.next, nullptr);
  EXPECT_EQ(statements.waiting(), 1);
  statements.end(second_, fate::answered);
  EXPECT_EQ(third.get(), fate::leading);
}

TEST_F(SharedStatements, WhereFewAskAndStatementsAreQuickTheyRunBesideEachOther) {
  shared_statements statements{{.in_flight = 4, .at_most = 256, .usual_time = 24h}, all_are_quick};
  meeting_call fourth{acquire, 1};
  meeting_call release{statement_kind::release, 1};
  ASSERT_EQ(statements.meet(first_), fate::leading);
  statements.end(first_, fate::answered);
  ASSERT_EQ(statements.meet(first_), fate::leading);
  ASSERT_EQ(statements.meet(second_), fate::leading);
  ASSERT_EQ(statements.meet(third_), fate::leading);
  auto waiting = start_waiting(statements, fourth);
  ASSERT_EQ(statements.meet(release), fate::leading) << "has a place of its own";
  statements.end(release, fate::answered);
  EXPECT_EQ(statements.waiting(), 1);
  statements.end(second_, fate::answered);
  EXPECT_EQ(waiting.get(), fate::leading);
}

TEST_F(SharedStatements, NoneBeginsBesideALargeOneNorWhereManyAsk) {
  shared_statements statements{{.in_flight = 4, .at_most = 256, .usual_time = 24h}, all_are_quick};
  std::deque<meeting_call> many;
  std::vector<std::future<fate>> fates;
  ASSERT_EQ(statements.meet(first_), fate::leading);
  for (int i = 0; i < 5; ++i) {
    fates.push_back(start_waiting(statements, many.emplace_back(acquire, 1)));
  }
  statements.end(first_, fate::answered);
  ASSERT_EQ(fates[0].get(), fate::leading);
  auto beside_a_large_one = start_waiting(statements, second_);
  statements.end(many[0], fate::answered);
  ASSERT_EQ(beside_a_large_one.get(), fate::leading);
  auto where_many_ask = start_waiting(statements, third_);
  statements.end(second_, fate::answered);
  EXPECT_EQ(where_many_ask.get(), fate::leading);
}

TEST_F(SharedStatements, FewerThanShareToTheirAdvantageGoSideBySideHoweverLongTheyTake) {
  shared_statements statements{{.in_flight = 8, .at_most = 256, .pays_from = 3, .usual_time = 24h},
                               none_is_quick};
  ASSERT_EQ(statements.meet(first_), fate::leading);
  ASSERT_EQ(statements.meet(second_), fate::leading);
  auto third = start_waiting(statements, third_);
  statements.end(first_, fate::answered);
  EXPECT_EQ(third.get(), fate::leading) << "with the one that is under way they are two";
  statements.end(second_, fate::answered);
  statements.end(third_, fate::answered);
  EXPECT_EQ(statements.waiting(), 0);
}

TEST_F(SharedStatements, ALeaderWaitsForThoseWhoWereAnsweredLast) {
  shared_statements statements{{.in_flight = 4, .at_most = 256, .usual_time = 24h}, patient};
  ASSERT_EQ(statements.meet(first_), fate::leading);
  auto second = start_waiting(statements, second_);
  statements.end(first_, fate::answered);
  auto third = start(statements, third_);  // comes instead of the first
  ASSERT_EQ(second.get(), fate::leading);
  EXPECT_EQ(second_.next, &third_);
  statements.end(second_, fate::answered);
  EXPECT_EQ(third.get(), fate::answered);
}

TEST_F(SharedStatements, ALeaderDoesNotWaitForThoseWhoMakeTheirCallsAlone) {
  shared_statements statements{{.in_flight = 4, .at_most = 256, .usual_time = 24h}, patient};
  ASSERT_EQ(statements.meet(first_), fate::leading);
  auto second = start_waiting(statements, second_);
  statements.end(first_, fate::alone);
  EXPECT_EQ(second.get(), fate::leading);
}

TEST_F(SharedStatements, ALeaderWhoseStatementIsFullDoesNotWait) {
  shared_statements statements{{.in_flight = 4, .at_most = 1, .usual_time = 24h}, patient};
  ASSERT_EQ(statements.meet(first_), fate::leading);
  auto second = start_waiting(statements, second_);
  statements.end(first_, fate::answered);
  EXPECT_EQ(second.get(), fate::leading);
}

TEST_F(SharedStatements, WhatMayRunBesideANewOneBeginsWithIt) {
  shared_statements statements{{.in_flight = 4, .at_most = 256, .usual_time = 24h}, all_are_quick};
  meeting_call release{statement_kind::release, 1};
  ASSERT_EQ(statements.meet(first_), fate::leading);
  auto acquiring = start_waiting(statements, second_);
  auto releasing = start_waiting(statements, release);
  statements.end(first_, fate::answered);
  EXPECT_EQ(acquiring.get(), fate::leading);
  EXPECT_EQ(releasing.get(), fate::leading);
}

TEST_F(SharedStatements, TheLastPlaceIsKeptFromAcquisitionsOnlyIfTheyHaveTheOthers) {
  shared_statements statements{{.in_flight = 2, .at_most = 256, .usual_time = 24h}, all_are_quick};
  meeting_call release{statement_kind::release, 1};
  ASSERT_EQ(statements.meet(first_), fate::leading);
  statements.end(first_, fate::answered);
  ASSERT_EQ(statements.meet(release), fate::leading);
  EXPECT_EQ(statements.meet(second_), fate::leading);
}

}  // namespace
}  // namespace rowlock::detail
