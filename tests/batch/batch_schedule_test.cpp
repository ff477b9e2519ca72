// Which thread makes the statement of calls that meet, moment by moment.
#include "batch/batch_schedule.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>

#include "support/patience.hpp"

namespace rowlock::detail {
namespace {

using namespace std::chrono_literals;

using ending = batched_call::ending;
using role = batched_call::role;

class BatchSchedule : public testing::Test {
 protected:
  static constexpr auto acquire = statement_kind::acquire;

  static constexpr batch_linger::limits patient{.part = 1e7, .longest = 24h};
  static constexpr batch_linger::limits impatient{.part = 0};
  static constexpr batch_backoff::limits never{.slow_call = 24h};
  /// After each statement the next three calls go side by side.
  static constexpr batch_backoff::limits always{.slow_call = -24h, .fewest = 3, .most = 3};

  static std::future<role> start(batch_schedule& statements, batched_call& call) {
    return std::async(std::launch::async, [&] { return statements.join(call); });
  }
  /// Returns once it waits.
  static std::future<role> start_waiting(batch_schedule& statements, batched_call& call) {
    const auto waiting = statements.waiting() + 1;
    auto started = start(statements, call);
    tests::await_that([&] { return statements.waiting() >= waiting; });
    return started;
  }
  static void end(batch_schedule& statements, batched_call& call, role of_the_others,
                  ending how = ending::usual) {
    call.ended = how;
    statements.end(call, of_the_others);
  }

  batched_call first_{acquire, 1};
  batched_call second_{acquire, 1};
  batched_call third_{acquire, 2};
};

TEST_F(BatchSchedule, NoneBeginsBesideOneThatTakesNoLongerThanUsual) {
  batch_schedule statements{
      {.in_flight = 4, .max_batch = 256, .usual_time = 24h}, impatient, never};
  batched_call release{statement_kind::release, 1};
  ASSERT_EQ(statements.join(first_), role::leading);
  auto second = start_waiting(statements, second_);
  auto third = start_waiting(statements, release);
  end(statements, first_, role::answered);
  EXPECT_EQ(second.get(), role::leading);
  EXPECT_EQ(second_.next, nullptr);
  EXPECT_EQ(statements.waiting(), 1);
  end(statements, second_, role::answered);
  EXPECT_EQ(third.get(), role::leading);
}

TEST_F(BatchSchedule, OthersBeginBesideOneThatTakesLonger) {
  batch_schedule statements{
      {.in_flight = 4, .max_batch = 256, .usual_time = 20ms}, impatient, never};
  ASSERT_EQ(statements.join(first_), role::leading);
  ASSERT_EQ(statements.join(second_), role::leading);
  end(statements, second_, role::answered);
  EXPECT_EQ(statements.join(third_), role::leading);
}

TEST_F(BatchSchedule, ThoseThatFollowAreToldWhatBecameOfThem) {
  batch_schedule statements{
      {.in_flight = 4, .max_batch = 256, .usual_time = 24h}, impatient, never};
  ASSERT_EQ(statements.join(first_), role::leading);
  auto second = start_waiting(statements, second_);
  auto third = start_waiting(statements, third_);
  end(statements, first_, role::answered);
  ASSERT_EQ(second.get(), role::leading);
  EXPECT_EQ(second_.next, &third_);
  end(statements, second_, role::alone);
  EXPECT_EQ(third.get(), role::alone);
}

TEST_F(BatchSchedule, WhoIsTooMuchForOneLeadsTheNextOne) {
  batch_schedule statements{{.in_flight = 4, .max_batch = 2, .usual_time = 24h}, impatient, never};
  ASSERT_EQ(statements.join(first_), role::leading);
  auto second = start_waiting(statements, second_);
  auto third = start_waiting(statements, third_);
  end(statements, first_, role::answered);
  ASSERT_EQ(second.get(), role::leading);
  EXPECT_EQ(second_.next, nullptr);
  EXPECT_EQ(statements.waiting(), 1);
  end(statements, second_, role::answered);
  EXPECT_EQ(third.get(), role::leading);
}

TEST_F(BatchSchedule, WhereNoneIsSharedTheyRunBesideEachOther) {
  batch_schedule statements{{.in_flight = 4, .max_batch = 1, .usual_time = 24h}};
  batched_call fourth{acquire, 1};
  batched_call release{statement_kind::release, 1};
  ASSERT_EQ(statements.join(first_), role::leading);
  end(statements, first_, role::answered);
  ASSERT_EQ(statements.join(first_), role::leading);
  ASSERT_EQ(statements.join(second_), role::leading);
  ASSERT_EQ(statements.join(third_), role::leading);
  auto waiting = start_waiting(statements, fourth);
  ASSERT_EQ(statements.join(release), role::leading) << "has a place of its own";
  end(statements, release, role::answered);
  EXPECT_EQ(statements.waiting(), 1);
  end(statements, second_, role::answered);
  EXPECT_EQ(waiting.get(), role::leading);
}

TEST_F(BatchSchedule, AfterASlowOneTheyRunBesideEachOtherForAWhile) {
  batch_schedule statements{
      {.in_flight = 4, .max_batch = 256, .usual_time = 24h}, impatient, always};
  ASSERT_EQ(statements.join(first_), role::leading);
  end(statements, first_, role::answered);
  batched_call beside_it{acquire, 1};
  ASSERT_EQ(statements.join(second_), role::leading);
  ASSERT_EQ(statements.join(third_), role::leading);
  ASSERT_EQ(statements.join(beside_it), role::leading);
  end(statements, beside_it, role::answered);
  end(statements, third_, role::answered);
  end(statements, second_, role::answered);
  batched_call last{acquire, 1};
  batched_call next{acquire, 1};
  ASSERT_EQ(statements.join(last), role::leading);
  auto waiting = start_waiting(statements, next);
  end(statements, last, role::answered, ending::failed);
  EXPECT_EQ(waiting.get(), role::leading);
}

TEST_F(BatchSchedule, OneThatFailedIsNotSlow) {
  batch_schedule statements{
      {.in_flight = 4, .max_batch = 256, .usual_time = 24h}, impatient, always};
  ASSERT_EQ(statements.join(first_), role::leading);
  end(statements, first_, role::alone, ending::failed);
  ASSERT_EQ(statements.join(second_), role::leading);
  auto waiting = start_waiting(statements, third_);
  end(statements, second_, role::answered);
  EXPECT_EQ(waiting.get(), role::leading);
}

TEST_F(BatchSchedule, OneBesideOthersIsNotSlow) {
  batch_schedule statements{
      {.in_flight = 4, .max_batch = 256, .pays_from = 3, .usual_time = 24h}, impatient, always};
  batched_call fourth{acquire, 1};
  ASSERT_EQ(statements.join(first_), role::leading);
  ASSERT_EQ(statements.join(second_), role::leading);
  end(statements, second_, role::answered);
  ASSERT_EQ(statements.join(third_), role::leading);
  auto waiting = start_waiting(statements, fourth);
  end(statements, third_, role::answered);
  end(statements, first_, role::answered);
  EXPECT_EQ(waiting.get(), role::leading);
}

TEST_F(BatchSchedule, WhereFewerCallsComeThanBatchingPaysFromTheyRunBesideEachOther) {
  batch_schedule statements{
      {.in_flight = 4, .max_batch = 256, .pays_from = 3, .usual_time = 24h}, impatient, never};
  batched_call release{statement_kind::release, 1};
  ASSERT_EQ(statements.join(first_), role::leading);
  ASSERT_EQ(statements.join(second_), role::leading);
  auto third = start_waiting(statements, third_);
  end(statements, first_, role::answered);  // its thread is expected to call again
  end(statements, second_, role::answered);
  ASSERT_EQ(third.get(), role::leading);
  ASSERT_EQ(statements.join(release), role::leading);
  end(statements, third_, role::answered);
  end(statements, release, role::answered);
}

TEST_F(BatchSchedule, ThreadsThatWereJustAnsweredAreCounted) {
  batch_schedule statements{
      {.in_flight = 4, .max_batch = 256, .pays_from = 4, .usual_time = 24h}, impatient, never};
  batched_call fourth{acquire, 1};
  batched_call again{acquire, 1};
  ASSERT_EQ(statements.join(first_), role::leading);
  ASSERT_EQ(statements.join(second_), role::leading);
  ASSERT_EQ(statements.join(third_), role::leading);
  auto waiting = start_waiting(statements, fourth);
  end(statements, first_, role::answered);  // three are there, and one has been answered
  auto last = start_waiting(statements, again);
  end(statements, second_, role::answered);
  end(statements, third_, role::answered);
  ASSERT_EQ(waiting.get(), role::leading);
  EXPECT_EQ(fourth.next, &again);
  end(statements, fourth, role::answered);
  EXPECT_EQ(last.get(), role::answered);
}

TEST_F(BatchSchedule, ALeaderWaitsForThoseWhoWereAnsweredLast) {
  batch_schedule statements{{.in_flight = 4, .max_batch = 256, .usual_time = 24h}, patient, never};
  ASSERT_EQ(statements.join(first_), role::leading);
  auto second = start_waiting(statements, second_);
  end(statements, first_, role::answered);
  auto third = start(statements, third_);  // comes instead of the first
  ASSERT_EQ(second.get(), role::leading);
  EXPECT_EQ(second_.next, &third_);
  end(statements, second_, role::answered);
  EXPECT_EQ(third.get(), role::answered);
}

TEST_F(BatchSchedule, OneThatGrantedNothingSaysNothingOfTheOthers) {
  batch_schedule statements{
      {.in_flight = 4, .max_batch = 256, .usual_time = 24h}, impatient, always};
  ASSERT_EQ(statements.join(first_), role::leading);
  end(statements, first_, role::answered, ending::unusual);
  ASSERT_EQ(statements.join(second_), role::leading);
  auto third = start_waiting(statements, third_);
  end(statements, second_, role::answered);
  EXPECT_EQ(third.get(), role::leading);
  end(statements, third_, role::answered);
}

// As on SQLite: the others cannot begin beside it, however slow it is or few they are.
TEST_F(BatchSchedule, WhereOnlyOneMayBeUnderWayItsLeaderAlwaysWaits) {
  batch_schedule statements{
      {.in_flight = 1, .max_batch = 256, .pays_from = 9, .usual_time = 24h}, patient, always};
  ASSERT_EQ(statements.join(first_), role::leading);
  auto second = start_waiting(statements, second_);
  end(statements, first_, role::answered);
  auto third = start(statements, third_);
  ASSERT_EQ(second.get(), role::leading);
  EXPECT_EQ(second_.next, &third_);
  end(statements, second_, role::answered);
  EXPECT_EQ(third.get(), role::answered);
}

TEST_F(BatchSchedule, ALeaderDoesNotWaitForThoseWhoMakeTheirCallsAlone) {
  batch_schedule statements{{.in_flight = 4, .max_batch = 256, .usual_time = 24h}, patient, never};
  ASSERT_EQ(statements.join(first_), role::leading);
  auto second = start_waiting(statements, second_);
  end(statements, first_, role::alone, ending::failed);
  EXPECT_EQ(second.get(), role::leading);
}

TEST_F(BatchSchedule, ALeaderWhoseStatementIsFullDoesNotWait) {
  batch_schedule statements{{.in_flight = 4, .max_batch = 2, .usual_time = 24h}, patient, never};
  ASSERT_EQ(statements.join(first_), role::leading);
  auto full = start_waiting(statements, third_);
  end(statements, first_, role::answered);
  EXPECT_EQ(full.get(), role::leading);
}

TEST_F(BatchSchedule, WhatMayRunBesideANewOneBeginsWithIt) {
  batch_schedule statements{
      {.in_flight = 4, .max_batch = 256, .usual_time = 24h}, impatient, always};
  batched_call release{statement_kind::release, 1};
  ASSERT_EQ(statements.join(first_), role::leading);
  auto acquiring = start_waiting(statements, third_);
  auto releasing = start_waiting(statements, release);
  end(statements, first_, role::answered);
  EXPECT_EQ(acquiring.get(), role::leading);
  EXPECT_EQ(releasing.get(), role::leading);
}

TEST_F(BatchSchedule, TheLastPlaceIsKeptFromAcquisitionsOnlyIfTheyHaveTheOthers) {
  batch_schedule statements{{.in_flight = 2, .max_batch = 1, .usual_time = 24h}};
  batched_call release{statement_kind::release, 1};
  ASSERT_EQ(statements.join(first_), role::leading);
  end(statements, first_, role::answered);
  ASSERT_EQ(statements.join(release), role::leading);
  EXPECT_EQ(statements.join(second_), role::leading);
}

}  // namespace
}  // namespace rowlock::detail
