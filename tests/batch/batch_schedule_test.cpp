// Which thread makes the statement of calls that meet, moment by moment.
#include "batch/batch_schedule.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <future>
#include <thread>
#include <vector>

#include "support/patience.hpp"

namespace rowlock::detail {
namespace {

using namespace std::chrono_literals;

using role = batched_call::role;

class BatchSchedule : public testing::Test {
 protected:
  static constexpr auto acquire = statement_kind::acquire;

  static constexpr batch_linger::limits patient{.part = 1e7, .longest = 24h};
  static constexpr batch_linger::limits impatient{.part = 0};
  static constexpr batch_width::limits one_at_a_time{.begins_as_one = true};
  /// A trial begins with the first call that has met another.
  static constexpr batch_width::limits eager{.calls = 1,
                                             .statements = 1,
                                             .unsettled = 2,
                                             .planned_at_first = 0,
                                             .fewest_between = 1,
                                             .begins_as_one = true};

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
  /// Two calls, of which the second one has met another, and has been answered.
  void begin_trial(batch_schedule& statements) {
    ASSERT_EQ(statements.join(first_), role::leading);
    auto second = start_waiting(statements, second_);
    statements.end(first_, role::answered);
    ASSERT_EQ(second.get(), role::leading);
    statements.end(second_, role::answered);
  }

  static void expect_delay_after_trial();

  batched_call first_{acquire, 1};
  batched_call second_{acquire, 1};
  batched_call third_{acquire, 2};
};

TEST_F(BatchSchedule, NoneBeginsBesideOneThatTakesNoLongerThanUsual) {
  batch_schedule statements{
      {.in_flight = 4, .at_most = 256, .usual_time = 24h}, impatient, one_at_a_time};
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
  batch_schedule statements{
      {.in_flight = 4, .at_most = 256, .usual_time = 20ms}, impatient, one_at_a_time};
  ASSERT_EQ(statements.join(first_), role::leading);
  ASSERT_EQ(statements.join(second_), role::leading);
  statements.end(second_, role::answered);
  EXPECT_EQ(statements.join(third_), role::leading);
}

TEST_F(BatchSchedule, ThoseThatFollowAreToldWhatBecameOfThem) {
  batch_schedule statements{
      {.in_flight = 4, .at_most = 256, .usual_time = 24h}, impatient, one_at_a_time};
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
  batch_schedule statements{
      {.in_flight = 4, .at_most = 2, .usual_time = 24h}, impatient, one_at_a_time};
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

TEST_F(BatchSchedule, WhereNoneIsSharedTheyRunBesideEachOther) {
  batch_schedule statements{{.in_flight = 4, .at_most = 1, .usual_time = 24h}};
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

TEST_F(BatchSchedule, WhereItTakesLessTimeTheyRunBesideEachOther) {
  batch_schedule statements{{.in_flight = 4, .at_most = 256, .usual_time = 24h}, impatient, eager};
  begin_trial(statements);
  batched_call third{acquire, 1};
  batched_call fourth{acquire, 1};
  ASSERT_EQ(statements.join(third), role::leading);
  ASSERT_EQ(statements.join(fourth), role::leading);
  statements.end(third, role::answered);
  statements.end(fourth, role::answered);
}

TEST_F(BatchSchedule, CallsThatMetNoOtherAndFaultsMakeNoMeasurement) {
  batch_schedule statements{{.in_flight = 4, .at_most = 256, .usual_time = 24h}, impatient, eager};
  batched_call alone{acquire, 1};
  ASSERT_EQ(statements.join(alone), role::leading);
  statements.end(alone, role::answered);
  ASSERT_EQ(statements.join(first_), role::leading);
  auto second = start_waiting(statements, second_);
  statements.end(first_, role::answered);
  ASSERT_EQ(second.get(), role::leading);
  auto third = start_waiting(statements, third_);
  second_.has_failed = true;
  statements.end(second_, role::alone);
  EXPECT_EQ(third.get(), role::leading);
}

TEST_F(BatchSchedule, CallsThatMetNoOtherCountInAMeasurement) {
  batch_schedule statements{{.in_flight = 4, .at_most = 256, .usual_time = 24h}, impatient, eager};
  begin_trial(statements);
  for (int i = 0; i < 2; ++i) {  // the two statements that do not count
    batched_call alone{acquire, 1};
    ASSERT_EQ(statements.join(alone), role::leading);
    EXPECT_EQ(alone.epoch, 1);
    statements.end(alone, role::answered);
  }
  batched_call fourth{acquire, 1};
  ASSERT_EQ(statements.join(third_), role::leading);
  ASSERT_EQ(statements.join(fourth), role::leading);
  statements.end(fourth, role::answered);  // the trial is over
  statements.end(third_, role::answered);
  batched_call last{acquire, 1};
  ASSERT_EQ(statements.join(last), role::leading);
  EXPECT_EQ(last.epoch, 2);
  statements.end(last, role::answered);
}

TEST_F(BatchSchedule, ALeaderWaitsForThoseWhoWereAnsweredLast) {
  batch_schedule statements{
      {.in_flight = 4, .at_most = 256, .usual_time = 24h}, patient, one_at_a_time};
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
  batch_schedule statements{
      {.in_flight = 4, .at_most = 256, .usual_time = 24h}, patient, one_at_a_time};
  ASSERT_EQ(statements.join(first_), role::leading);
  auto second = start_waiting(statements, second_);
  first_.has_failed = true;
  statements.end(first_, role::alone);
  EXPECT_EQ(second.get(), role::leading);
}

TEST_F(BatchSchedule, ALeaderWhoseStatementIsFullDoesNotWait) {
  batch_schedule statements{
      {.in_flight = 4, .at_most = 2, .usual_time = 24h}, patient, one_at_a_time};
  ASSERT_EQ(statements.join(first_), role::leading);
  auto full = start_waiting(statements, third_);
  statements.end(first_, role::answered);
  EXPECT_EQ(full.get(), role::leading);
}

TEST_F(BatchSchedule, WhatMayRunBesideANewOneBeginsWithIt) {
  batch_schedule statements{{.in_flight = 4, .at_most = 256, .usual_time = 24h}, impatient, eager};
  batched_call release{statement_kind::release, 1};
  ASSERT_EQ(statements.join(first_), role::leading);
  auto second = start_waiting(statements, second_);
  statements.end(first_, role::answered);
  ASSERT_EQ(second.get(), role::leading);
  auto acquiring = start_waiting(statements, third_);
  auto releasing = start_waiting(statements, release);
  statements.end(second_, role::answered);  // it has met another: a trial begins
  EXPECT_EQ(acquiring.get(), role::leading);
  EXPECT_EQ(releasing.get(), role::leading);
}

TEST_F(BatchSchedule, TheLastPlaceIsKeptFromAcquisitionsOnlyIfTheyHaveTheOthers) {
  batch_schedule statements{{.in_flight = 2, .at_most = 1, .usual_time = 24h}};
  batched_call release{statement_kind::release, 1};
  ASSERT_EQ(statements.join(first_), role::leading);
  statements.end(first_, role::answered);
  ASSERT_EQ(statements.join(release), role::leading);
  EXPECT_EQ(statements.join(second_), role::leading);
}

/// A delay in vain, a trial side by side, and two calls one at a time: whether they share a
/// statement. (The delay is in vain only if the thread that waits is there before the call that
/// does not join it.)
void BatchSchedule::expect_delay_after_trial() {
  batch_width::limits width = eager;
  width.clearly_more = 1e9;
  batch_schedule statements{{.in_flight = 4, .at_most = 256, .usual_time = 24h}, patient, width};
  batched_call first{acquire, 1};
  batched_call delayed{acquire, 1};
  batched_call release{statement_kind::release, 1};
  ASSERT_EQ(statements.join(first), role::leading);
  auto second = start_waiting(statements, delayed);
  statements.end(first, role::answered);
  auto in_vain = start_waiting(statements, release);
  ASSERT_EQ(second.get(), role::leading);
  statements.end(delayed, role::answered);
  ASSERT_EQ(in_vain.get(), role::leading);
  statements.end(release, role::answered);

  std::deque<batched_call> trial;
  for (int i = 0; i < 2; ++i) {
    auto& one = trial.emplace_back(acquire, 1U);
    auto& beside_it = trial.emplace_back(acquire, 1U);
    ASSERT_EQ(statements.join(one), role::leading);
    ASSERT_EQ(statements.join(beside_it), role::leading);
    statements.end(beside_it, role::answered);
    statements.end(one, role::answered);
  }

  batched_call last{acquire, 1};
  batched_call next{acquire, 1};
  batched_call awaited{acquire, 1};
  ASSERT_EQ(statements.join(last), role::leading);
  auto lingering = start_waiting(statements, next);
  statements.end(last, role::answered);
  auto joining = start(statements, awaited);
  ASSERT_EQ(lingering.get(), role::leading);
  EXPECT_EQ(next.next, &awaited);
  next.has_failed = true;  // or else the other one, if it was not awaited, waits for it
  statements.end(next, role::answered);
  if (joining.get() == role::leading) statements.end(awaited, role::answered);
}

// Otherwise each trial would begin with statements of half of the calls.
TEST_F(BatchSchedule, DelaysInVainDoNotCountWhereStatementsBeginToRunOneAtATime) {
  for (int i = 0; i < 20; ++i) expect_delay_after_trial();
}

}  // namespace
}  // namespace rowlock::detail
