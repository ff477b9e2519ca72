// Callers of one lock_table that wait for permits, as readers or writers, or for sets of keys.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rowlock/read_write_lock.hpp"
#include "rowlock/semaphore.hpp"
#include "support/clock_of_waiters.hpp"
#include "support/hooked_store.hpp"
#include "support/patience.hpp"
#include "support/recording_observer.hpp"

namespace rowlock::tests {
namespace {

using namespace std::chrono_literals;

class Line : public testing::Test {
 protected:
  /// Begins `acquire` with a time limit of its own, and returns once it waits.
  template <class Acquire>
  auto in_line(const Acquire& acquire) {
    const auto time_to_wait = 60min + apart_ * waiters_++;
    auto waiting = std::async(std::launch::async, [this, acquire, time_to_wait] {
      return acquire(acquire_options{.wait = wait_for(time_to_wait)});
    });
    clock_->await_wait_until(time_->now() + time_to_wait);
    return waiting;
  }
  template <class Result>
  static bool is_ready(std::future<Result>& pending) {
    return pending.wait_for(0s) == std::future_status::ready;
  }
  template <class Result>
  static auto granted(std::future<Result>& pending) {
    await_answer(pending, {});  // the clock stands still
    return *pending.get();
  }

  const std::shared_ptr<manual_time> time_ = std::make_shared<manual_time>();
  const std::shared_ptr<clock_of_waiters> clock_ = std::make_shared<clock_of_waiters>(time_);
  hooked_store rows_{time_};
  std::optional<lock_table> locks_{std::in_place, rows_, lock_options{.ttl = 24h, .time = clock_}};
  lock_table others_{rows_, {.ttl = 24h, .time = time_}};
  const lock_key name_{"printer", "2nd floor"};
  std::chrono::seconds apart_{60};
  int waiters_ = 0;
};

TEST_F(Line, ForPermitsIsServedInOrderAsTheyAreReleased) {
  semaphore used{*locks_, name_, 1};
  auto held = std::optional{*used.try_acquire()};
  const auto acquire = [&](const acquire_options& options) { return used.try_acquire(options); };
  auto first = in_line(acquire);
  auto second = in_line(acquire);
  auto third = in_line(acquire);
  const auto tries = rows_.batches("acquire_any").size();
  EXPECT_EQ(tries, 2U) << "those behind the first have not tried";
  held->release();
  held.emplace(granted(first));
  EXPECT_FALSE(is_ready(second));
  held->release();
  held.emplace(granted(second));
  EXPECT_FALSE(is_ready(third));
  held->release();
  held.emplace(granted(third));
}

TEST_F(Line, ForPermitsIsToldOfAReleaseByAnotherProcess) {
  rows_.let_listen();
  semaphore ours{*locks_, name_, 2};
  semaphore theirs{others_, name_, 2};
  auto one = *theirs.try_acquire();
  auto other = *theirs.try_acquire();
  auto waiting = in_line([&](const acquire_options& options) { return ours.try_acquire(options); });
  rows_.await_answers("watch", 1);
  other.release();
  rows_.listener().released(other.key());
  EXPECT_EQ(granted(waiting).key(), other.key());
}

TEST_F(Line, ForPermitsGoesOnWhenItsFirstGivesUp) {
  semaphore used{*locks_, name_, 1};
  auto held = *used.try_acquire();
  std::stop_source stop;
  auto first = in_line([&](acquire_options options) {
    options.wait.stop = stop.get_token();
    return used.try_acquire(options);
  });
  auto second = in_line([&](const acquire_options& options) { return used.try_acquire(options); });
  stop.request_stop();
  const auto stopped = first.get();
  EXPECT_EQ(stopped.refusal().reason, refusal_reason::stopped);
  EXPECT_EQ(stopped.refusal().key, name_);
  held.release();
  EXPECT_TRUE(granted(second).is_valid());
}

TEST_F(Line, IsLeftAsStoppedWhenItsTableIsDestroyed) {
  std::optional<semaphore> used{std::in_place, *locks_, name_, 1};
  const auto held = *semaphore{others_, name_, 1}.try_acquire();
  const auto acquire = [&](const acquire_options& options) { return used->try_acquire(options); };
  auto first = in_line(acquire);
  auto second = in_line(acquire);
  locks_.reset();
  EXPECT_EQ(first.get().refusal().reason, refusal_reason::stopped);
  EXPECT_EQ(second.get().refusal().reason, refusal_reason::stopped);
}

TEST_F(Line, ForPermitsEndsWithARefusalThatNamesTheSemaphore) {
  semaphore used{*locks_, name_, 1};
  const auto held = *used.try_acquire();
  const auto acquire = [&](const acquire_options& options) { return used.try_acquire(options); };
  auto first = in_line(acquire);
  auto second = in_line(acquire);
  time_->advance(60min);
  await_answer(first, {});
  const auto refused = first.get();
  EXPECT_EQ(refused.refusal().reason, refusal_reason::timed_out);
  EXPECT_EQ(refused.refusal().key, name_);
  time_->advance(1min);
  await_answer(second, {});
  EXPECT_EQ(second.get().refusal().key, name_);
}

TEST_F(Line, ForPermitsIsTriedOnceForAllWhoseTimeIsOver) {
  semaphore used{*locks_, name_, 1};
  const auto held = *used.try_acquire();
  const auto acquire = [&](acquire_options options) {
    options.wait.first_pause = options.wait.longest_pause = 24h;
    return used.try_acquire(options);
  };
  apart_ = 1s;
  waiters_ = 1;
  auto first = in_line(acquire);
  waiters_ = 0;
  auto second = in_line(acquire);
  const auto tries = rows_.batches("acquire_any").size();
  rows_.before("acquire_any", [&] { time_->advance(1s); });  // the time of the first is over, too
  time_->advance(60min);
  await_answer(first, {});
  await_answer(second, {});
  EXPECT_EQ(first.get().refusal().reason, refusal_reason::timed_out);
  EXPECT_EQ(second.get().refusal().reason, refusal_reason::timed_out);
  EXPECT_EQ(rows_.batches("acquire_any").size(), tries + 1);
}

TEST_F(Line, OfSetsIsServedInOrderOnceTheRowThatRefusedIsReleased) {
  auto one = *locks_->try_acquire({"job", "a"});
  auto other = *locks_->try_acquire({"job", "b"});
  const std::vector<lock_key> keys{{"job", "a"}, {"job", "b"}};
  const auto acquire = [&](const acquire_options& options) {
    return locks_->try_acquire_all(keys, options);
  };
  auto first = in_line(acquire);
  auto second = in_line(acquire);
  const auto tries = [this] { return rows_.batches("acquire_all").size(); };
  EXPECT_EQ(tries(), 1U);
  other.release();
  one.release();
  auto held = granted(first);
  EXPECT_LE(tries(), 3U);
  EXPECT_FALSE(is_ready(second));
  held.release();
  EXPECT_EQ(granted(second).size(), 2U);
}

TEST_F(Line, OfSetsLetsACallerTakeAnyKeyWhileAnotherWaitsForAll) {
  const auto held = *locks_->try_acquire({"job", "a"});
  const std::vector<lock_key> keys{{"job", "a"}, {"job", "b"}};
  auto all = in_line(
      [&](const acquire_options& options) { return locks_->try_acquire_all(keys, options); });
  const auto any = locks_->try_acquire_any(keys, 1, {.wait = wait_for(1h)});
  ASSERT_TRUE(any.acquired());
  EXPECT_EQ(any->leases().front().key(), keys.back());
  locks_.reset();
  EXPECT_FALSE(all.get().acquired());
}

TEST_F(Line, OfReadersAndWritersIsServedInOrder) {
  read_write_lock used{*locks_, name_, 2};
  auto reading = *used.try_acquire_shared();
  auto writing =
      in_line([&](const acquire_options& options) { return used.try_acquire_exclusive(options); });
  const auto read = [&](const acquire_options& options) {
    return used.try_acquire_shared(options);
  };
  auto next = in_line(read);
  auto last = in_line(read);
  reading.release();
  auto written = granted(writing);
  EXPECT_EQ(written.size(), 3U);
  EXPECT_FALSE(is_ready(next));
  written.release();
  const auto one = granted(next);
  const auto other = granted(last);
  EXPECT_NE(one.key(), other.key());
}

TEST_F(Line, IsReportedAsAWait) {
  const auto seen = std::make_shared<recording_observer>();
  locks_.emplace(rows_, lock_options{.ttl = 24h, .time = clock_, .observer = seen});
  semaphore used{*locks_, name_, 1};
  auto held = *used.try_acquire();
  auto waiting = in_line([&](const acquire_options& options) { return used.try_acquire(options); });
  time_->advance(1min);
  held.release();
  EXPECT_TRUE(granted(waiting).is_valid());
  EXPECT_EQ(seen->await<waited_event>().waited, 1min);
}

TEST_F(Line, ThatIsLeftInVainFromBehindIsReported) {
  const auto seen = std::make_shared<recording_observer>();
  locks_.emplace(rows_, lock_options{.ttl = 24h, .time = clock_, .observer = seen});
  semaphore used{*locks_, name_, 1};
  const auto held = *used.try_acquire();
  const auto acquire = [&](const acquire_options& options) { return used.try_acquire(options); };
  auto first = in_line(acquire);
  auto second = in_line(acquire);
  time_->advance(60min);
  await_answer(first, {});
  time_->advance(1min);
  await_answer(second, {});
  await_that([&] { return seen->count<waited_event>() == 2 && seen->count<refused_event>() == 2; });
}

}  // namespace
}  // namespace rowlock::tests
