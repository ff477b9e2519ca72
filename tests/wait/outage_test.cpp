// A wait for a key outlasts a short outage.
#include "wait/outage_test.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <stop_token>
#include <variant>
#include <vector>

#include "rowlock/async.hpp"
#include "rowlock/row_mutex.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {
namespace {

class Outage : public OutageTest {
 protected:
  static std::vector<attempt> started(std::size_t count, const std::function<attempt(int)>& start) {
    std::vector<attempt> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(start(static_cast<int>(i)));
    return all;
  }
  /// Of answers that get lost, after the database has executed the call.
  void lose_answers(int count) {
    rows_.after("acquire", [left = std::make_shared<std::atomic<int>>(count)] {
      if ((*left)-- > 0) throw error{errc::outcome_unknown, "the connection was lost: ask again"};
    });
  }
  /// Of calls that are not known to have got lost.
  void lose_attempts() {
    rows_.before("acquire", [this] {
      ++attempts_;
      if (is_away_) throw error{errc::outcome_unknown, "the connection was lost: ask again"};
    });
    is_away_ = true;
  }
};

TEST_F(Outage, AtTheFirstTryIsNoEndOfTheWait) {
  is_away_ = true;
  auto waiting = waiter(wait_for(1h));
  let_attempts_fail(5);
  is_away_ = false;
  EXPECT_TRUE(end_of(waiting).acquired());
}

TEST_F(Outage, WhileTheKeyIsHeldIsNoEndOfTheWait) {
  auto held = theirs();
  auto waiting = waiter(wait_for(1h));
  rows_.await_one_more(*time_, "watch");
  is_away_ = true;
  let_attempts_fail(5);
  EXPECT_FALSE(is_over(waiting));
  held.release();
  is_away_ = false;
  EXPECT_TRUE(end_of(waiting).acquired());
}

TEST_F(Outage, ThatLastsIsThrownWhenTheTimeIsOver) {
  const auto held = theirs();
  const auto end = time_->now() + 1h;
  std::array waiting{waiter(wait_for(1h)), waiter(wait_for(1h))};
  clock_->await_wait_until(end, waiting.size());
  rows_.await_one_more(*time_, "watch");
  is_away_ = true;
  let_attempts_fail(3);  // a read is tried twice, and the third try begins when that is known
  for (const auto& fault : faults_at(end, waiting)) EXPECT_EQ(fault, errc::unavailable);
}

TEST_F(Outage, ThatIsOverIsNotThrown) {
  is_away_ = true;
  auto waiting = waiter(wait_for(1h));
  rows_.await("acquire", 1);
  const auto end_of_wait = time_->now() + 1h;
  let_attempts_fail(5);
  const auto held = theirs();
  is_away_ = false;
  rows_.await_one_more(*time_, "watch");
  time_->advance(end_of_wait - time_->now());  // no further: the last try is to be answered
  const auto refused = waiting.get();
  EXPECT_EQ(refused.refusal().reason, refusal_reason::timed_out);
  EXPECT_EQ(refused.refusal().holder, "theirs");
}

TEST_F(Outage, IsThrownWhenTheAttemptsAreUsedUp) {
  is_away_ = true;
  auto waiting = waiter({.attempts = 4});
  EXPECT_EQ(fault_of(waiting), errc::unavailable);
  EXPECT_EQ(attempts_, 4);
}

TEST_F(Outage, IsThrownAtOnceToOneWhoDoesNotWait) {
  is_away_ = true;
  EXPECT_THROW((void)ours_->try_acquire({"job", "a"}), error);
  EXPECT_THROW((void)ours_->try_acquire({"job", "a"}, {.wait = wait_for(0s)}), error);
  EXPECT_EQ(attempts_, 2);
}

TEST_F(Outage, IsThrownAtOnceToOneWhoAskedForThatAndToNobodyElse) {
  const auto held = theirs();
  auto impatient = wait_for(1h);
  impatient.through_outages = false;
  std::stop_source stop;
  auto first = waiter(wait_until_stopped(stop.get_token()));
  rows_.await_one_more(*time_, "watch");
  auto second = waiter(impatient);
  rows_.await_one_more(*time_, "watch");
  is_away_ = true;
  EXPECT_EQ(fault_of(second), errc::unavailable);
  EXPECT_FALSE(is_over(first));
  stop.request_stop();
  EXPECT_EQ(first.get().refusal().reason, refusal_reason::stopped);
}

TEST_F(Outage, EndsWithAFaultThatDoesNotPass) {
  for (const auto kind : {errc::rejected, errc::misuse}) {
    is_away_ = true;
    auto waiting = waiter(wait_forever());
    let_attempts_fail(2);
    rows_.before("acquire", [kind] { throw error{kind, "deploy something"}; });
    EXPECT_EQ(fault_of(waiting), kind);
    rows_.before("acquire", [this] {
      ++attempts_;
      if (is_away_) throw error{errc::unavailable, "the server is away: wait"};
    });
  }
}

TEST_F(Outage, IsAskedAboutByOneForAllWithPausesThatGrow) {
  std::vector<lease> held;
  for (int i = 0; i < 20; ++i) held.push_back(theirs(std::to_string(i)));
  auto waiting = started(40, [&](int i) {
    return waiter(wait_for(24h), {"job", std::to_string(i % 20)});
  });
  // Those that meet share a call.
  const auto requests = [this] {
    const auto calls = rows_.batches("acquire");
    return std::accumulate(calls.begin(), calls.end(), std::size_t{0});
  };
  await_that([&] { return requests() >= 20; });
  rows_.await_one_more(*time_, "watch");
  is_away_ = true;
  let_attempts_fail(10);
  const auto before = attempts_.load();
  pass(*time_, 60s, 100ms);
  EXPECT_LT(attempts_ - before, 300) << "one key alone would be tried as often";
  let_attempts_fail(5);
  for (auto& each : held) each.release();
  is_away_ = false;
  const auto over = [&] {
    return std::count_if(waiting.begin(), waiting.end(), [](auto& each) { return is_over(each); });
  };
  await_that([&] { return over() >= 20; }, [&] { time_->advance(100ms); });
  ours_.reset();
  const auto granted = std::count_if(waiting.begin(), waiting.end(),
                                     [](auto& each) { return each.get().acquired(); });
  EXPECT_EQ(granted, 20);
}

TEST_F(Outage, IsWaitedThroughNoLongerThanTheLimitThoughTheServerHangs) {
  is_away_ = true;
  auto waiting = waiter(wait_for(1h));
  let_attempts_fail(5);
  gate answer;
  rows_.before("acquire", [&] { answer.pass(); });
  rows_.await_moving(*time_, "acquire", rows_.batches("acquire").size() + 1, 10ms);
  answer.await_visitor();
  time_->advance(1h);
  EXPECT_EQ(fault_of(waiting), errc::outcome_unknown);
  answer.open();
  rows_.await("release", 1);  // the late grant is given back
}

TEST_F(Outage, EndsWithAStopAtOnce) {
  std::stop_source stop;
  is_away_ = true;
  auto waiting = waiter(wait_until_stopped(stop.get_token()));
  let_attempts_fail(5);
  stop.request_stop();
  EXPECT_EQ(waiting.get().refusal().reason, refusal_reason::stopped);
}

TEST_F(Outage, EndsWithTheTable) {
  is_away_ = true;
  auto waiting = waiter(wait_forever());
  let_attempts_fail(5);
  ours_.reset();
  EXPECT_EQ(waiting.get().refusal().reason, refusal_reason::stopped);
}

TEST_F(Outage, WhichLosesTheAnswerOfAGrantIsAskedAboutAsTheSameAttempt) {
  lose_answers(2);
  auto waiting = waiter(wait_for(1h));
  const auto taken = end_of(waiting);
  ASSERT_TRUE(taken.acquired());
  EXPECT_EQ(rows_.batches("acquire").size(), 3);
  EXPECT_TRUE(taken->is_valid());
  EXPECT_EQ(rows_.rows().list().size(), 1);
}

TEST_F(Outage, WhichLosesAnswersLeavesTheAttemptInDoubtWhileTheRowIsBusy) {
  memory_transaction work{rows_.rows()};
  ASSERT_TRUE(lock_rows(work, lock_key{"job", "a"}, no_wait()).acquired());
  lose_attempts();
  auto waiting = waiter(wait_for(1h));
  let_attempts_fail(4);
  is_away_ = false;
  let_attempts_fail(4);  // these do not fail: they are answered
  await_that([&] { return is_over(waiting); }, [&] { time_->advance(10s); });
  EXPECT_EQ(fault_of(waiting), errc::outcome_unknown);
}

TEST_F(Outage, WhichLosesAnswersIsSaidWhenTheWaitIsStopped) {
  std::stop_source stop;
  lose_attempts();
  auto waiting = waiter(wait_until_stopped(stop.get_token()));
  let_attempts_fail(4);
  stop.request_stop();
  EXPECT_EQ(fault_of(waiting), errc::outcome_unknown);
}

TEST_F(Outage, WhichLosesTheAnswerOfAGrantIsNoReasonToTakeItForSomebodyElses) {
  const auto seen = *ours_->read({"job", "a"});
  lose_answers(2);
  const retry_policy patient{.first_pause = 1s, .longest_pause = 1s, .jitter = false};
  auto in_doubt = begin([&] {
    return ours_->try_acquire({"job", "a"}, {.wait = patient, .expected = seen});
  });
  rows_.await("acquire", 2);
  auto other = waiter(wait_for(1h));  // the key is read for this one
  rows_.await_one_more(*time_, "watch");
  EXPECT_TRUE(end_of(in_doubt).acquired());
  ours_.reset();
}

TEST_F(Outage, IsToldToTheObserverOnceForAllWhoWait) {
  const auto held = theirs();
  const auto end = time_->now() + 1h;
  std::array waiting{waiter(wait_for(1h)), waiter(wait_for(1h)), waiter(wait_for(1h))};
  clock_->await_wait_until(end, waiting.size());
  rows_.await_one_more(*time_, "watch");
  const auto before = attempts_.load();
  is_away_ = true;
  let_attempts_fail(3);  // as above
  for (const auto& fault : faults_at(end, waiting)) EXPECT_EQ(fault, errc::unavailable);
  ours_.reset();
  std::size_t faults = 0;
  for (const auto& each : observer_->events()) {
    if (std::holds_alternative<fault_event>(each)) ++faults;
  }
  EXPECT_LE(faults, attempts_ - before + 3) << "and how each of the three attempts ended";
  EXPECT_GT(faults, 3);
}

TEST_F(Outage, IsNoEndForOneWhoDoesNotBlock) {
  is_away_ = true;
  std::promise<outcome<lease>> caught;
  start_acquire(*ours_, {"job", "a"}, {.wait = wait_for(1h)},
                [&](acquire_end end) { caught.set_value(*std::move(end.answer)); });
  auto waiting = caught.get_future();
  let_attempts_fail(5);
  is_away_ = false;
  EXPECT_TRUE(end_of(waiting).acquired());
}

TEST_F(Outage, ThatLastsIsToldToOneWhoDoesNotBlockWhenTheTimeIsOver) {
  is_away_ = true;
  std::promise<std::exception_ptr> caught;
  start_acquire(*ours_, {"job", "a"}, {.wait = wait_for(1min)},
                [&](acquire_end end) { caught.set_value(end.fault); });
  auto waiting = caught.get_future();
  EXPECT_NE(end_of(waiting, 100ms), nullptr);
}

TEST_F(Outage, IsNoEndForAMutex) {
  is_away_ = true;
  row_mutex mutex{*ours_, {"job", "a"}};
  auto locking = begin([&] { return mutex.try_lock_for(1h); });
  let_attempts_fail(5);
  is_away_ = false;
  EXPECT_TRUE(end_of(locking));
  mutex.unlock();
}

}  // namespace
}  // namespace rowlock::tests
