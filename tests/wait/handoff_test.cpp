// How a row goes from one thread of a process to the next.
#include <gtest/gtest.h>

#include <array>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "rowlock/error.hpp"
#include "rowlock/lock_table.hpp"
#include "support/hooked_store.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {
namespace {

using namespace std::chrono_literals;

class HandoffInProcess : public testing::Test {
 protected:
  using attempt = std::future<outcome<lease>>;

  lease ours(const acquire_options& options = {}) { return *ours_->try_acquire(key_, options); }
  attempt waiter(const retry_policy& wait = wait_forever()) {
    return std::async(std::launch::async,
                      [this, wait] { return ours_->try_acquire(key_, {.wait = wait}); });
  }
  /// Returns once a refused waiter has read the row.
  void await_in_line() { rows_.await_one_more(*time_, "watch"); }
  [[nodiscard]] std::size_t calls(const std::string& operation) {
    return rows_.batches(operation).size();
  }

  const lock_key key_{"job", "a"};
  std::shared_ptr<manual_time> time_ = std::make_shared<manual_time>();
  hooked_store rows_{time_};
  lock_table theirs_{rows_.rows(), {.ttl = 1h, .holder = "theirs", .time = time_}};
  std::optional<lock_table> ours_{std::in_place, rows_, lock_options{.ttl = 1h, .time = time_}};
};

TEST_F(HandoffInProcess, ToTheNextInLineIsOneStatement) {
  auto held = ours();
  auto next = waiter();
  await_in_line();
  const auto attempts = calls("acquire");
  EXPECT_EQ(held.release(), release_result::released);
  const auto got = next.get();
  ASSERT_TRUE(got.acquired());
  EXPECT_GT(got->token(), held.token());
  EXPECT_TRUE(got->is_valid());
  EXPECT_FALSE(held.is_valid());
  EXPECT_EQ(calls("hand_over"), 1);
  EXPECT_EQ(calls("acquire"), attempts);
  EXPECT_EQ(calls("release"), 0);
}

TEST_F(HandoffInProcess, GivesOtherProcessesTheirChanceAfter64InARow) {
  auto held = ours();
  for (int i = 0; i < 64; ++i) {
    auto next = waiter();
    await_in_line();
    held.release();
    held = *next.get();
  }
  EXPECT_EQ(calls("hand_over"), 64);
  EXPECT_EQ(calls("release"), 0);
  auto next = waiter();
  await_in_line();
  const auto attempts = calls("acquire");
  held.release();
  EXPECT_EQ(calls("hand_over"), 64);
  EXPECT_EQ(calls("release"), 1);
  auto stranger = theirs_.try_acquire(key_);
  EXPECT_TRUE(stranger.acquired());
  EXPECT_EQ(calls("acquire"), attempts) << "it does not leave others the time to try";
  stranger->release();
  await_answer(next, [&] { time_->advance(5ms); });
  EXPECT_TRUE(next.get().acquired());
}

TEST_F(HandoffInProcess, ThatFailsLeavesItToTheNextOneToAsk) {
  auto held = ours();
  auto next = waiter();
  await_in_line();
  rows_.before("hand_over", [] { throw error{errc::unavailable, "away"}; });
  EXPECT_EQ(held.release(), release_result::deferred);
  rows_.await_moving(*time_, "release", 1);
  await_answer(next, [&] { time_->advance(20ms); });
  EXPECT_TRUE(next.get().acquired());
}

TEST_F(HandoffInProcess, InDoubtIsFoundByTheNextOne) {
  auto held = ours();
  auto next = waiter();
  await_in_line();
  rows_.after("hand_over", [] { throw error{errc::outcome_unknown, "cut off"}; });
  held.release();
  await_answer(next, [&] { time_->advance(20ms); });
  const auto got = next.get();
  ASSERT_TRUE(got.acquired());
  EXPECT_TRUE(got->is_valid());
  EXPECT_EQ(rows_.rows().read(std::array{key_}).front()->version, got->token());
}

/// The statement is executed after the next one has given up, and the release before it fails.
class HandoffInProcessLate : public HandoffInProcess {
 protected:
  /// Waits until `end_`, and has begun to do so.
  attempt limited_waiter() {
    end_ = time_->now() + 10min;
    const auto attempts = calls("acquire");
    auto next = waiter(wait_for(10min));
    rows_.await("acquire", attempts + 1);  // the clock has not moved
    await_in_line();
    return next;
  }
  /// No further: the last try of a wait is to be answered within two seconds.
  void pass_to_the_end() { time_->advance(end_ - time_->now()); }
  void expect_the_row_to_be_given_back() {
    ASSERT_TRUE(rows_.hand_over_late().granted);
    rows_.before("release", {});
    await_that([this] { return !rows_.rows().read(std::array{key_}).front()->owned; },
               [this] { time_->advance(20ms); });
    EXPECT_TRUE(theirs_.try_acquire(key_).acquired());
  }
  void fail_releases() {
    rows_.before("release", [] { throw error{errc::unavailable, "away"}; });
  }

 private:
  boot_clock::time_point end_;
};

TEST_F(HandoffInProcessLate, IsGivenBackWhenTheNextOneHasTimedOut) {
  auto held = ours();
  auto next = limited_waiter();
  fail_releases();
  rows_.before("hand_over", [] { throw error{errc::outcome_unknown, "cut off"}; });
  EXPECT_EQ(held.release(), release_result::deferred);
  pass_to_the_end();
  EXPECT_EQ(next.get().refusal().reason, refusal_reason::timed_out);
  expect_the_row_to_be_given_back();
}

TEST_F(HandoffInProcessLate, IsGivenBackWhenTheNextOneWasOutOfTimeAlready) {
  auto held = ours();
  auto next = limited_waiter();
  fail_releases();
  rows_.before("hand_over", [this] {
    pass_to_the_end();
    throw error{errc::outcome_unknown, "cut off"};
  });
  EXPECT_EQ(held.release(), release_result::deferred);
  EXPECT_EQ(next.get().refusal().reason, refusal_reason::timed_out);
  expect_the_row_to_be_given_back();
}

TEST_F(HandoffInProcessLate, IsGivenBackWhenTheNextOneStops) {
  auto held = ours();
  std::stop_source stop;
  auto next = waiter(wait_until_stopped(stop.get_token()));
  await_in_line();
  fail_releases();
  rows_.before("hand_over", [&] {
    stop.request_stop();
    EXPECT_FALSE(next.get().acquired());
    throw error{errc::outcome_unknown, "cut off"};
  });
  EXPECT_EQ(held.release(), release_result::deferred);
  expect_the_row_to_be_given_back();
}

TEST_F(HandoffInProcess, IsTheOnlyGrantWhenItIsTimeToAskForTheRowMeanwhile) {
  const lock_key beside{"job", "b"};
  auto held = ours();
  const acquire_request in_the_way{
      .key = beside, .owner = make_owner_id(), .holder = "theirs", .ttl = 1h};
  rows_.rows().acquire({&in_the_way, 1});
  const acquire_options longer{.wait = wait_forever(), .ttl = 24h};
  auto next = std::async(std::launch::async, [&] { return ours_->try_acquire(key_, longer); });
  await_in_line();
  auto of_beside =
      std::async(std::launch::async, [&] { return ours_->try_acquire(beside, longer); });
  await_that([&] {
    await_in_line();
    return rows_.batches("watch").back() == 2;
  });
  const auto attempts = calls("acquire");
  rows_.after("hand_over", [&] {
    time_->advance(61min);  // both leases, as they were seen last, would have run out
    rows_.await_moving(*time_, "acquire", attempts + 1, 1min);
  });
  EXPECT_EQ(held.release(), release_result::released);
  ASSERT_TRUE(of_beside.get().acquired());
  EXPECT_EQ(rows_.batches("acquire").back(), 1) << "tried for the row that was being handed over";
  const auto got = next.get();
  ASSERT_TRUE(got.acquired());
  EXPECT_EQ(rows_.rows().read(std::array{key_}).front()->version, got->token());
}

TEST_F(HandoffInProcess, ToOneWhoGivesUpMeanwhileIsTakenBack) {
  auto held = ours();
  std::stop_source stop;
  auto next = waiter(wait_until_stopped(stop.get_token()));
  await_in_line();
  rows_.before("hand_over", [&] {
    stop.request_stop();
    EXPECT_FALSE(next.get().acquired());
  });
  EXPECT_EQ(held.release(), release_result::released);
  rows_.await_moving(*time_, "release", 1);
  EXPECT_TRUE(theirs_.try_acquire(key_, {.wait = wait_for(1h)}).acquired());
}

TEST_F(HandoffInProcess, IsNotForOneForWhomTheRowIsBeingAskedFor) {
  rows_.let_listen();
  auto held = ours();
  auto next = waiter();
  await_in_line();
  gate answer;
  rows_.before("acquire", [&] { answer.pass(); });
  rows_.listener().released(key_);
  answer.await_visitor();
  EXPECT_EQ(held.release(), release_result::released);
  EXPECT_EQ(calls("hand_over"), 0);
  answer.open();
  EXPECT_TRUE(next.get().acquired());
}

TEST_F(HandoffInProcess, IsNotForARowWhoseWorkIsDone) {
  attempt next;
  const auto done = ours_->with_lock_once(key_, [&] {
    next = waiter();
    await_in_line();
  });
  EXPECT_TRUE(done.kept());
  EXPECT_EQ(calls("hand_over"), 0);
  ours_.reset();
  (void)next.get();
  EXPECT_TRUE(rows_.rows().read(std::array{key_}).front()->done);
}

TEST_F(HandoffInProcess, IsNotForARowThatStaysClosed) {
  auto held = ours({.hold_at_least = 1h});
  auto next = waiter();
  await_in_line();
  EXPECT_EQ(held.release(), release_result::released);
  EXPECT_EQ(calls("hand_over"), 0);
  EXPECT_EQ(calls("release"), 1);
  ours_.reset();
  EXPECT_FALSE(next.get().acquired());
}

}  // namespace
}  // namespace rowlock::tests
