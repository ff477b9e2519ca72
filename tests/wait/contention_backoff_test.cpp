// How waiters of several processes take turns, by notifications of each other's grants.
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <stop_token>
#include <thread>

#include "rowlock/lock_table.hpp"
#include "support/hooked_store.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {
namespace {

using namespace std::chrono_literals;

class ContentionBackoff : public testing::Test {
 protected:
  using attempt = std::future<outcome<lease>>;

  ContentionBackoff() {
    rows_.let_listen();
    auto held = theirs();
    // A caller has waited for the key once, so that its process tracks it.
    std::stop_source stop;
    auto passing = waiter(wait_until_stopped(stop.get_token()));
    rows_.await_one_more(*time_, "watch");
    stop.request_stop();
    EXPECT_FALSE(passing.get().acquired());
    held.release();
  }

  lease theirs() { return *theirs_.try_acquire(key_); }
  attempt waiter(const retry_policy& wait) {
    return std::async(std::launch::async,
                      [this, wait] { return ours_.try_acquire(key_, {.wait = wait}); });
  }
  /// Returns once a waiter has read the row.
  void await_in_line() { rows_.await_one_more(*time_, "watch", 5ms); }

  void notify_of_grant() { rows_.listener().taken(key_, {.lease = 1h, .watched_for = 10s}); }

  /// What an attempt does at once that may wait, but not for a moment.
  outcome<lease> try_without_patience() {
    std::stop_source stop;
    stop.request_stop();
    return ours_.try_acquire(key_, {.wait = wait_until_stopped(stop.get_token())});
  }

  /// Ours have waited for seven turns of others, had the key, and released it just now.
  void release_what_seven_others_had_before() {
    auto held = theirs();
    auto waiting = waiter(wait_forever());
    await_in_line();
    for (int i = 0; i < 7; ++i) notify_of_grant();
    held.release();
    auto ours = waiting.get();
    notify_of_grant();
    time_->advance(500ms);
    ours->release();
  }

  [[nodiscard]] std::size_t calls(const std::string& operation) {
    return rows_.batches(operation).size();
  }

  const lock_key key_{"job", "a"};
  std::shared_ptr<manual_time> time_ = std::make_shared<manual_time>();
  hooked_store rows_{time_};
  lock_table theirs_{rows_.rows(), {.ttl = 1h, .holder = "theirs", .time = time_}};
  lock_table ours_{rows_, {.ttl = 1h, .time = time_}};
};

TEST_F(ContentionBackoff, ThatAnotherTookTheKeySparesTheFirstQuestion) {
  const auto held = theirs();
  notify_of_grant();
  const auto attempts = calls("acquire");
  const auto refused = try_without_patience();
  EXPECT_EQ(refused.refusal().reason, refusal_reason::stopped);
  EXPECT_EQ(refused.refusal().remaining, 1h);
  EXPECT_EQ(calls("acquire"), attempts);
}

TEST_F(ContentionBackoff, IsNotBelievedByThoseWhoWouldNotWait) {
  notify_of_grant();
  EXPECT_TRUE(ours_.try_acquire(key_).acquired());
}

TEST_F(ContentionBackoff, IsBelievedForASecond) {
  notify_of_grant();
  time_->advance(1s);
  EXPECT_TRUE(try_without_patience().acquired());
}

TEST_F(ContentionBackoff, IsNotBelievedLongerThanTheLeaseLasts) {
  rows_.listener().taken(key_, {.lease = 100ms, .watched_for = 10s});
  time_->advance(100ms);
  EXPECT_TRUE(try_without_patience().acquired());
}

TEST_F(ContentionBackoff, IsNotBelievedLongerThanReleasesAreAnnounced) {
  rows_.listener().taken(key_, {.lease = 1h, .watched_for = 100ms});
  time_->advance(100ms);
  EXPECT_TRUE(try_without_patience().acquired());
}

TEST_F(ContentionBackoff, IsNotBelievedOfAKeyWhoseReleaseWasNotHeard) {
  notify_of_grant();
  notify_of_grant();  // in between it was released by an application's transaction
  EXPECT_TRUE(try_without_patience().acquired());
}

TEST_F(ContentionBackoff, IsForgottenWhenSomeOfItMayHaveBeenMissed) {
  notify_of_grant();
  rows_.listener().listening();
  EXPECT_TRUE(try_without_patience().acquired());
}

TEST_F(ContentionBackoff, OfAReleaseEndsWhatWasHeardBefore) {
  notify_of_grant();
  rows_.listener().released(key_);
  EXPECT_TRUE(try_without_patience().acquired());
}

TEST_F(ContentionBackoff, ThatDoesNotComeTrueCostsASecondAndNotTheKey) {
  lock_table dying{rows_.rows(), {.ttl = 2s, .renew = false, .time = time_}};
  const auto held = dying.try_acquire(key_);
  notify_of_grant();  // for an hour, it says
  auto waiting = waiter(wait_forever());
  await_answer(waiting, [&] { time_->advance(20ms); });
  EXPECT_TRUE(waiting.get().acquired());
}

TEST_F(ContentionBackoff, ThatNeverComesTrueAndNeverEndsCostsTwoSecondsAndNotTheKey) {
  lock_table dying{rows_.rows(), {.ttl = 2s, .renew = false, .time = time_}};
  const auto held = dying.try_acquire(key_);
  auto waiting = waiter(wait_forever());
  await_in_line();
  const auto is_over = [&] { return waiting.wait_for(1ms) == std::future_status::ready; };
  for (int i = 0; i < 500 && !is_over(); ++i) {  // the lease lasts two seconds, and belief two more
    rows_.listener().released(key_);             // as any role may say, as often as it likes
    notify_of_grant();
    time_->advance(10ms);
  }
  pass(*time_, 900ms, 10ms);  // not to the end of what was said last
  EXPECT_TRUE(comes(is_over)) << "the row is free, and is not read";
  time_->advance(1s);
  EXPECT_TRUE(waiting.get().acquired());
}

TEST_F(ContentionBackoff, SparesThoseWhoWaitTheirLooks) {
  const auto held = theirs();
  std::stop_source stop;
  const auto reads = calls("watch") + 1;
  auto waiting = waiter(wait_until_stopped(stop.get_token()));
  rows_.await_answers("watch", reads);  // the next one is due when the clock has moved
  notify_of_grant();
  pass(*time_, 900ms, 10ms);
  EXPECT_EQ(calls("watch"), reads);
  await_in_line();
  stop.request_stop();
  EXPECT_FALSE(waiting.get().acquired());
}

TEST_F(ContentionBackoff, HearsOfTheReleaseHoweverLongTheKeyIsHeldAndThePausesAre) {
  const auto held = theirs();
  std::stop_source stop;
  const auto reads = calls("watch") + 1;
  auto waiting = waiter({.first_pause = 24h, .longest_pause = 24h, .stop = stop.get_token()});
  rows_.await_answers("watch", reads);
  EXPECT_TRUE(comes([&] { return calls("watch") > reads; }, [&] { time_->advance(100ms); }))
      << "the row's mark lapses";
  stop.request_stop();
  EXPECT_FALSE(waiting.get().acquired());
}

TEST_F(ContentionBackoff, SparesNobodyTheLooksThatAreCountedAsTries) {
  const auto held = theirs();
  notify_of_grant();
  const auto notified_at = time_->now();
  auto waiting =
      waiter({.attempts = 3, .first_pause = 50ms, .longest_pause = 50ms, .jitter = false});
  await_answer(waiting, [&] { time_->advance(2ms); });
  EXPECT_EQ(waiting.get().refusal().reason, refusal_reason::timed_out);
  EXPECT_LT(time_->now() - notified_at, 1s);
}

TEST_F(ContentionBackoff, OneWhomNobodyElseWasHeardBeforeAsksAtOnce) {
  auto held = theirs();
  auto waiting = waiter(wait_forever());
  await_in_line();
  notify_of_grant();
  time_->advance(500ms);
  held.release();
  EXPECT_TRUE(waiting.get().acquired());
}

TEST_F(ContentionBackoff, ANewcomerLetsThoseWhoWaitHaveTheirTurn) {
  release_what_seven_others_had_before();
  const auto attempts = calls("acquire");
  EXPECT_FALSE(try_without_patience().acquired());
  EXPECT_EQ(calls("acquire"), attempts);
  time_->advance(35ms);  // a turn of 5 ms for each
  EXPECT_TRUE(try_without_patience().acquired());
}

TEST_F(ContentionBackoff, WhereAnotherWasFasterTheNextQuestionIsNotAskedAtOnce) {
  const auto held = theirs();
  std::stop_source stop;
  auto waiting = waiter(wait_until_stopped(stop.get_token()));
  await_in_line();
  const auto attempts = calls("acquire");
  rows_.listener().released(key_);
  rows_.await("acquire", attempts + 1);
  await_in_line();  // by the same thread, so the refusal is known
  stop.request_stop();
  EXPECT_FALSE(waiting.get().acquired());
  notify_of_grant();
  time_->advance(500ms);
  rows_.listener().released(key_);
  EXPECT_FALSE(try_without_patience().acquired());
  EXPECT_EQ(calls("acquire"), attempts + 1);
}

TEST_F(ContentionBackoff, AnAttemptThatDoesNotWaitLetsNobodyHaveATurn) {
  release_what_seven_others_had_before();
  EXPECT_TRUE(ours_.try_acquire(key_).acquired());
}

TEST_F(ContentionBackoff, WhoHasAskedForNothingYetAsksWhenItsTurnHasComeAndNobodyTookTheKey) {
  release_what_seven_others_had_before();
  const auto attempts = calls("acquire");
  auto waiting = waiter(wait_forever());
  rows_.await_moving(*time_, "acquire", attempts + 1, 5ms);
  EXPECT_TRUE(waiting.get().acquired());
  EXPECT_EQ(calls("acquire"), attempts + 1);
}

TEST_F(ContentionBackoff, WhoHearsThatAnotherWasFasterDoesNotAsk) {
  release_what_seven_others_had_before();
  auto held = theirs();
  notify_of_grant();
  std::stop_source stop;
  auto waiting = waiter(wait_until_stopped(stop.get_token()));
  time_->advance(1s);
  await_in_line();
  const auto attempts = calls("acquire");
  held.release();  // and it defers to those that have waited longer
  held = theirs();
  notify_of_grant();
  time_->advance(100ms);
  await_in_line();
  EXPECT_EQ(calls("acquire"), attempts);
  stop.request_stop();
  EXPECT_FALSE(waiting.get().acquired());
}

}  // namespace
}  // namespace rowlock::tests
