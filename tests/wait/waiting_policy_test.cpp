// Whose pauses, attempts and time count in a line.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>

#include "rowlock/async.hpp"
#include "rowlock/lock_table.hpp"
#include "support/hooked_store.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {
namespace {

using namespace std::chrono_literals;

class WaitingPolicy : public testing::Test {
 protected:
  using attempt = std::future<outcome<lease>>;

  attempt start(const retry_policy& wait, const lock_key& key) {
    const auto caught = std::make_shared<std::promise<outcome<lease>>>();
    start_acquire(*ours_, key, {.wait = wait},
                  [caught](acquire_end end) { caught->set_value(*std::move(end.answer)); });
    return caught->get_future();
  }
  /// Is queued: the one thread of the pool has served another call since.
  attempt waiter(const retry_policy& wait) {
    auto waiting = start(wait, key_);
    await_pool();
    return waiting;
  }
  void await_pool() { (void)start(no_wait(), other_key_).get(); }

  static bool is_over(attempt& waiting) {
    return waiting.wait_for(1ms) == std::future_status::ready;
  }
  bool ends_within(boot_clock::duration limit, attempt& waiting) {
    time_->advance(limit);
    return comes([&] { return is_over(waiting); });
  }
  void let_reads_begin(std::size_t times) {
    rows_.await_moving(*time_, "watch", rows_.batches("watch").size() + times + 1);
  }

  static retry_policy every(std::chrono::milliseconds pause) {
    return {.first_pause = pause, .longest_pause = pause, .jitter = false};
  }
  static retry_policy twice_every(std::chrono::milliseconds pause) {
    auto policy = every(pause);
    policy.attempts = 2;
    return policy;
  }
  static retry_policy for_a_second() {
    auto policy = every(1h);
    policy.give_up_after = 1s;
    return policy;
  }

  const lock_key key_{"job", "a"};
  const lock_key other_key_{"job", "b"};
  std::shared_ptr<manual_time> time_ = std::make_shared<manual_time>();
  hooked_store rows_{time_};
  lock_table theirs_{rows_.rows(), {.ttl = 24h, .holder = "theirs", .time = time_}};
  std::optional<lock_table> ours_{std::in_place, rows_,
                                  lock_options{.ttl = 24h, .blocking_threads = 1, .time = time_}};
};

TEST_F(WaitingPolicy, LooksForThoseBeforeCostNoAttempt) {
  const auto held = theirs_.try_acquire(key_);
  auto first = waiter(every(10ms));
  auto second = waiter(twice_every(1h));
  let_reads_begin(5);
  EXPECT_FALSE(is_over(second));
  time_->advance(1h);
  const auto refused = second.get();
  EXPECT_EQ(refused.refusal().reason, refusal_reason::timed_out);
  EXPECT_EQ(refused.refusal().holder, "theirs");
  EXPECT_FALSE(is_over(first));
}

TEST_F(WaitingPolicy, LongPausesOfThoseBeforeDelayNobodysAttempts) {
  const auto held = theirs_.try_acquire(key_);
  auto first = waiter(every(1h));
  auto second = waiter(twice_every(10ms));
  ASSERT_TRUE(ends_within(50min, second));
  EXPECT_EQ(second.get().refusal().reason, refusal_reason::timed_out);
  EXPECT_FALSE(is_over(first));
}

TEST_F(WaitingPolicy, AQuestionIsAnAttemptWhateverThePause) {
  memory_transaction work{rows_.rows()};
  ASSERT_TRUE(lock_rows(work, key_, no_wait()).acquired());  // only an attempt finds its end
  auto first = waiter(twice_every(1h));
  ASSERT_TRUE(ends_within(50min, first));
  EXPECT_EQ(first.get().refusal().reason, refusal_reason::timed_out);
}

/// An attempt for the first waiter is under way when its time is over.
class EndOfTime : public WaitingPolicy {
 protected:
  attempt late_waiter(const retry_policy& wait) {
    return late([&] { return waiter(wait); });
  }
  attempt late_thread(const retry_policy& wait) {
    return late([&] {
      auto waiting = std::async(std::launch::async,
                                [this, wait] { return ours_->try_acquire(key_, {.wait = wait}); });
      rows_.await("watch", 1);
      return waiting;
    });
  }

  gate answer_;

 private:
  template <class Begin>
  attempt late(const Begin& begin) {
    rows_.let_listen();
    auto held = theirs_.try_acquire(key_);
    auto late = begin();
    rows_.before("acquire", [this, is_first = std::make_shared<std::atomic<bool>>(true)] {
      if (!is_first->exchange(false)) return;
      attempt_.open();
      answer_.pass();
    });
    held->release();
    attempt_.pass();
    time_->advance(1s);
    return late;
  }

  gate attempt_;
};

TEST_F(EndOfTime, DuringAQuestionWaitsForItsAnswer) {
  auto late = late_waiter(for_a_second());
  await_pool();
  EXPECT_FALSE(is_over(late));
  answer_.open();
  EXPECT_TRUE(late.get().acquired());
}

TEST_F(EndOfTime, DuringAQuestionInVainIsTheEnd) {
  auto late = late_waiter(for_a_second());
  await_pool();
  const auto again = theirs_.try_acquire(key_);
  answer_.open();
  EXPECT_EQ(late.get().refusal().reason, refusal_reason::timed_out);
}

TEST_F(EndOfTime, DuringAQuestionThatHangsCanStillBeStopped) {
  std::stop_source stop;
  auto policy = for_a_second();
  policy.stop = stop.get_token();
  auto late = late_waiter(policy);
  await_pool();
  stop.request_stop();
  EXPECT_EQ(late.get().refusal().reason, refusal_reason::stopped);
  answer_.open();
}

TEST_F(EndOfTime, OfAThreadThatBlocksIsTheSame) {
  auto late = late_thread(for_a_second());
  EXPECT_FALSE(is_over(late));
  answer_.open();
  EXPECT_TRUE(late.get().acquired());
}

TEST_F(EndOfTime, OfAThreadThatBlocksCanStillBeStopped) {
  std::stop_source stop;
  auto policy = for_a_second();
  policy.stop = stop.get_token();
  auto late = late_thread(policy);
  EXPECT_FALSE(is_over(late));
  stop.request_stop();
  EXPECT_EQ(late.get().refusal().reason, refusal_reason::stopped);
  answer_.open();
}

}  // namespace
}  // namespace rowlock::tests
