// How the threads of one process wait for keys.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <vector>

#include "rowlock/error.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/row_mutex.hpp"
#include "support/clock_of_waiters.hpp"
#include "support/hooked_store.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {
namespace {

using namespace std::chrono_literals;

class WaitQueue : public testing::Test {
 protected:
  using attempt = std::future<outcome<lease>>;

  attempt waiter(const retry_policy& wait, const lock_key& key = {"job", "a"}) {
    return std::async(std::launch::async,
                      [this, wait, key] { return ours_->try_acquire(key, {.wait = wait}); });
  }
  lease theirs(const std::string& id = "a") { return *theirs_.try_acquire({"job", id}); }

  template <class Result>
  static bool is_ready(std::future<Result>& pending) {
    return pending.wait_for(0s) == std::future_status::ready;
  }

  [[nodiscard]] std::size_t statements() {
    return rows_.batches("acquire").size() + rows_.batches("watch").size();
  }

  /// Reads after a second, and then not for two.
  static retry_policy patient() {
    return {.first_pause = 1s, .longest_pause = 24h, .jitter = false};
  }
  /// Returns once a refused waiter has read the row.
  void await_in_line(std::chrono::milliseconds step = 20ms) {
    rows_.await_one_more(*time_, "watch", step);
  }

  std::shared_ptr<manual_time> time_ = std::make_shared<manual_time>();
  hooked_store rows_{time_};
  lock_table theirs_{rows_.rows(), {.ttl = 1h, .holder = "theirs", .time = time_}};
  std::optional<lock_table> ours_{std::in_place, rows_, lock_options{.ttl = 1h, .time = time_}};
};

TEST_F(WaitQueue, ServesThoseOfOneKeyInTheOrderInWhichTheyCame) {
  const auto clock = std::make_shared<clock_of_waiters>(time_);
  ours_.emplace(rows_, lock_options{.ttl = 1h, .time = clock});
  auto held = theirs();
  std::vector<attempt> later;
  for (int i = 0; i < 4; ++i) {
    const std::chrono::hours time_to_wait{1000 + i};  // each another
    later.push_back(waiter(wait_for(time_to_wait)));
    clock->await_wait_until(time_->now() + time_to_wait);
  }
  attempt first = std::move(later.front());
  later.erase(later.begin());
  EXPECT_EQ(rows_.batches("acquire").size(), 1) << "a newcomer tries before its turn";
  held.release();
  rows_.await_moving(*time_, "acquire", 2);
  auto served = first.get();
  for (auto& next : later) {
    EXPECT_FALSE(is_ready(next));
    served->release();
    served = next.get();
    ASSERT_TRUE(served.acquired());
  }
}

TEST_F(WaitQueue, LooksAtAllKeysInOneStatementAndSeldomWhenNobodyComes) {
  std::vector<lease> held;
  std::vector<attempt> waiting;
  std::stop_source stop;
  for (int key = 0; key < 10; ++key) {
    held.push_back(theirs(std::to_string(key)));
    for (int i = 0; i < 3; ++i) {
      waiting.push_back(waiter(wait_until_stopped(stop.get_token()), {"job", std::to_string(key)}));
    }
  }
  await_that(
      [this] { return !rows_.batches("watch").empty() && rows_.batches("watch").back() >= 10; },
      [this] { time_->advance(10ms); });
  time_->advance(20s);
  await_in_line();
  const auto before = statements();
  pass(*time_, 30s, 50ms);
  EXPECT_LE(statements() - before, 31) << "more than one a second";
  for (int i = 0; i < 5; ++i) await_in_line();
  stop.request_stop();
  for (auto& each : waiting) EXPECT_EQ(each.get().refusal().reason, refusal_reason::stopped);
}

TEST_F(WaitQueue, IsToldOfAReleaseBySomebodyElse) {
  rows_.let_listen();
  auto held = theirs();
  auto waiting = waiter(patient());
  await_in_line();
  held.release();
  EXPECT_TRUE(waiting.get().acquired());
}

TEST_F(WaitQueue, IsToldOfAReleaseByItsOwnProcessWhateverTheStoreAnnounces) {
  auto held = ours_->try_acquire({"job", "a"});
  auto waiting = waiter(patient());
  await_in_line();
  held->release();
  EXPECT_TRUE(waiting.get().acquired());
}

TEST_F(WaitQueue, FindsAReleaseThatNobodyToldItOfAtTheNextPoll) {
  auto held = theirs();
  auto waiting = waiter(patient());
  await_in_line();
  held.release();
  rows_.await_moving(*time_, "acquire", 2);
  EXPECT_TRUE(waiting.get().acquired());
}

TEST_F(WaitQueue, AsksWhenTheHoldersLeaseRunsOut) {
  lock_table dying{rows_.rows(), {.ttl = 2s, .renew = false, .time = time_}};
  const lease held = *dying.try_acquire({"job", "a"});
  auto waiting = waiter(patient());
  await_in_line();
  time_->advance(1s + 1ms);
  rows_.await("acquire", 2);
  ASSERT_TRUE(waiting.get().acquired());
  EXPECT_FALSE(held.is_valid());
}

TEST_F(WaitQueue, AHintDuringAnAnswerIsNotLost) {
  rows_.let_listen();
  auto held = theirs();
  rows_.after("watch", [&] { held.release(); });  // seen as held, free by now
  auto waiting = waiter(patient());
  rows_.await_moving(*time_, "watch", 1);
  EXPECT_TRUE(waiting.get().acquired());
}

TEST_F(WaitQueue, AWaitCanBeGivenUpWhileTheStoreHangsAndALateGrantIsGivenBack) {
  auto held = theirs();
  std::stop_source stop;
  auto waiting = waiter(wait_until_stopped(stop.get_token()));
  await_in_line();
  gate answer;
  rows_.before("acquire", [&] { answer.pass(); });
  held.release();
  rows_.await_moving(*time_, "acquire", 2);
  stop.request_stop();
  EXPECT_EQ(waiting.get().refusal().reason, refusal_reason::stopped);
  answer.open();
  rows_.await("release", 1);
  EXPECT_TRUE(theirs_.try_acquire({"job", "a"}, {.wait = wait_for(1h)}).acquired());
}

TEST_F(WaitQueue, TheNextInLineIsServedWhenTheFirstGivesUpDuringItsGrant) {
  const auto clock = std::make_shared<clock_of_waiters>(time_);
  ours_.emplace(rows_, lock_options{.ttl = 1h, .time = clock});
  auto held = theirs();
  std::stop_source stop;
  auto first = waiter(wait_until_stopped(stop.get_token()));
  await_in_line();
  gate answer;
  rows_.before("acquire", [&] { answer.pass(); });
  auto second = waiter(wait_for(1000h));
  clock->await_wait_until(time_->now() + 1000h);
  held.release();
  rows_.await_moving(*time_, "acquire", 2);
  stop.request_stop();
  EXPECT_FALSE(first.get().acquired());
  answer.open();
  rows_.await("release", 1);
  rows_.await_moving(*time_, "acquire", 3);
  EXPECT_TRUE(second.get().acquired());
}

TEST_F(WaitQueue, AsksOnceMoreAtTheEndOfALimitedTime) {
  auto held = theirs();
  auto policy = patient();
  policy.give_up_after = 2s;
  auto waiting = waiter(policy);
  await_in_line(2ms);
  held.release();
  time_->advance(1s);
  EXPECT_TRUE(waiting.get().acquired());
}

TEST_F(WaitQueue, TheLongestTimesThereAreMeanForEver) {
  auto held = theirs();
  auto waiting = waiter(wait_for(std::chrono::milliseconds::max()));
  row_mutex mutex{*ours_, {"job", "b"}};
  const auto other = theirs("b");
  auto locking =
      std::async(std::launch::async, [&] { return mutex.try_lock_for(std::chrono::hours::max()); });
  await_in_line();
  await_in_line();
  EXPECT_FALSE(is_ready(waiting));
  EXPECT_FALSE(is_ready(locking));
  ours_.reset();
  EXPECT_FALSE(waiting.get().acquired());
  EXPECT_FALSE(locking.get());
}

TEST_F(WaitQueue, AFaultOfAQuestionIsThrownByTheWait) {
  auto held = theirs();
  auto impatient = patient();
  impatient.through_outages = false;
  auto waiting = waiter(impatient);
  await_in_line();
  rows_.before("acquire", [] { throw error{errc::unavailable, "gone"}; });
  held.release();
  rows_.await_moving(*time_, "acquire", 2);
  EXPECT_THROW((void)waiting.get(), error);
}

TEST_F(WaitQueue, ALookThatLostItsConnectionIsMadeOnceMore) {
  auto held = theirs();
  rows_.before("watch", [this] {
    if (rows_.batches("watch").size() == 1) throw error{errc::unavailable, "gone"};
  });
  auto waiting = waiter(wait_forever());
  rows_.await_moving(*time_, "watch", 2);
  held.release();
  await_that([&] { return is_ready(waiting); }, [&] { time_->advance(10ms); });
  EXPECT_TRUE(waiting.get().acquired());
}

TEST_F(WaitQueue, AFaultOfALookIsThrownByAllThatWait) {
  const auto held = theirs();
  rows_.before("watch", [] {
    try {
      throw std::runtime_error{"the driver's"};
    } catch (...) {
      std::throw_with_nested(error{errc::unavailable, "gone"});
    }
  });
  const retry_policy impatient{.through_outages = false};
  std::array waiting{waiter(impatient), waiter(impatient)};
  rows_.await("acquire", 1);
  rows_.await_moving(*time_, "watch", 1);
  await_that([&] { return is_ready(waiting[0]) && is_ready(waiting[1]); },
             [&] { time_->advance(10ms); });
  std::vector<std::exception_ptr> thrown;
  for (auto& each : waiting) {
    try {
      (void)each.get();
    } catch (const error& fault) {
      thrown.push_back(std::current_exception());
      EXPECT_STREQ(fault.what(), error(errc::unavailable, "gone").what());
      EXPECT_THROW(std::rethrow_if_nested(fault), std::runtime_error);
    }
  }
  ASSERT_EQ(thrown.size(), 2);
  EXPECT_NE(thrown[0], thrown[1]) << "each may change what it catches";
}

TEST_F(WaitQueue, AVersionThatMovedOnMeanwhileIsStale) {
  auto held = theirs();
  std::optional<lease> again;
  rows_.after("watch", [&] {
    if (again) return;
    held.release();
    again.emplace(theirs());
  });
  auto waiting = std::async(std::launch::async, [this, expected = held.token()] {
    return ours_->try_acquire({"job", "a"}, {.wait = patient(), .expected = expected});
  });
  await_in_line();
  await_in_line();
  EXPECT_EQ(waiting.get().refusal().reason, refusal_reason::stale);
}

}  // namespace
}  // namespace rowlock::tests
