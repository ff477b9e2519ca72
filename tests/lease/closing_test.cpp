// Keys that stay taken longer than their leases: `hold_at_least` and `lock_delay`.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "lease/lease_state_test.hpp"
#include "rowlock/error.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {
namespace {

class closing_test : public lease_state_test {
 protected:
  row_state row() { return rows_.rows().read(std::array{key_}).front().value(); }

  lease acquire(const acquire_options& options) { return *locks_->try_acquire(key_, options); }

  /// How long others are refused; zero when they are not.
  std::chrono::microseconds closed_for() {
    const auto state = row();
    EXPECT_FALSE(state.owned);
    return state.remaining.value_or(0us);
  }

  bool is_refused_as_misuse(const acquire_options& options) {
    return is_misuse([&] { (void)locks_->try_acquire(key_, options); });
  }

  const lock_key key_{"job", "a"};
};

class HoldAtLeast : public closing_test {};

TEST_F(HoldAtLeast, KeepsTheKeyTakenAfterAnEarlyRelease) {
  auto held = acquire({.hold_at_least = 10s});
  time_->advance(4s);
  EXPECT_EQ(held.release(), release_result::released);
  const auto refused = locks_->try_acquire(key_);
  ASSERT_FALSE(refused.acquired());
  EXPECT_EQ(refused.refusal().reason, refusal_reason::held);
  EXPECT_EQ(refused.refusal().remaining, 6s);
  EXPECT_FALSE(refused.refusal().holder.empty());
  time_->advance(6s);
  EXPECT_TRUE(locks_->try_acquire(key_).acquired());
  EXPECT_EQ(row().expiry_count, 0);
}

// ThreadSanitizer sees whether both may touch the hold at once: nothing orders the two threads
// here.
TEST_F(HoldAtLeast, OfAGrantWhoseNoteFailsEndsWhileTheTableCloses) {
  for (int times = 0; times < 20; ++times) {
    std::atomic<bool> is_closing{false};
    hooked_store rows{time_};
    rows.before("write_note", [&] {
      await_that([&] { return is_closing.load(std::memory_order_relaxed); });
      throw std::runtime_error{"no paper"};
    });
    std::optional<lock_table> locks{std::in_place, rows, lock_options{.ttl = 30s, .time = time_}};
    const std::jthread acquiring{[&, used = &*locks] {
      EXPECT_THROW((void)used->try_acquire(key_, {.hold_at_least = 10s, .note = "a note"}),
                   std::runtime_error);
    }};
    rows.await("write_note", 1);
    is_closing.store(true, std::memory_order_relaxed);
    locks.reset();
  }
}

TEST_F(HoldAtLeast, IsOverAtALateRelease) {
  auto held = acquire({.hold_at_least = 5s});
  time_->advance(5s);
  EXPECT_EQ(held.release(), release_result::released);
  EXPECT_EQ(closed_for(), 0s);
}

TEST_F(HoldAtLeast, HoldsForAFailureToo) {
  EXPECT_THROW((void)locks_->with_lock(key_, [] { throw std::runtime_error{"no paper"}; },
                                       {.hold_at_least = 10s}),
               std::runtime_error);
  EXPECT_EQ(closed_for(), 10s);
  EXPECT_EQ(row().failure_count, 1);
}

TEST_F(HoldAtLeast, HoldsForWorkThatIsDoneOnce) {
  EXPECT_TRUE(locks_->with_lock_once(key_, [] {}, {.acquire = {.hold_at_least = 10s}}).kept());
  EXPECT_EQ(closed_for(), 10s);
  EXPECT_TRUE(row().done);
}

TEST_F(HoldAtLeast, HoldsForALeaseThatIsDestroyed) {
  { const auto held = acquire({.hold_at_least = 10s}); }
  EXPECT_EQ(closed_for(), 10s);
}

TEST_F(HoldAtLeast, HoldsAtTheEndOfTheLockTable) {
  const auto held = acquire({.hold_at_least = 10s});
  locks_.reset();
  EXPECT_EQ(closed_for(), 10s);
}

TEST_F(HoldAtLeast, HoldsForAReleaseInATransaction) {
  auto held = acquire({.hold_at_least = 10s});
  time_->advance(1s);
  memory_transaction work{rows_.rows()};
  release_with(work, held, {});
  work.commit();
  EXPECT_EQ(closed_for(), 9s);
  EXPECT_EQ(held.release(), release_result::released);
}

TEST_F(HoldAtLeast, IsNotLongerBecauseTheReleaseCameLate) {
  rows_.before("release", [this] {
    if (rows_.batches("release").size() < 2) {
      time_->advance(4s);
      throw error{errc::unavailable, "the network is down"};
    }
  });
  auto held = acquire({.hold_at_least = 10s});
  EXPECT_EQ(held.release(), release_result::deferred);
  rows_.await_moving(*time_, "release", 2);
  await_that([&] { return !row().owned; });
  EXPECT_LE(closed_for(), 6s);
}

TEST_F(HoldAtLeast, ClosesNothingForAGrantThatCameTooLate) {
  rows_.after("acquire", [this] { time_->advance(29s); });
  EXPECT_THROW((void)locks_->try_acquire(key_, {.hold_at_least = 10s}), error);
  rows_.await("release", 1);
  await_that([&] { return !row().owned; });
  EXPECT_EQ(closed_for(), 0s);
}

TEST_F(HoldAtLeast, ClosesNothingForAGrantWhoseNoteFailed) {
  rows_.before("write_note", [] { throw error{errc::unavailable, "the network is down"}; });
  EXPECT_THROW((void)locks_->try_acquire(key_, {.hold_at_least = 10s, .note = "step 1"}), error);
  EXPECT_EQ(closed_for(), 0s);
}

TEST_F(HoldAtLeast, IsMisuseOutOfItsBounds) {
  for (const std::chrono::milliseconds wrong :
       {-1ms, 24h + 1ms, std::chrono::milliseconds::max()}) {
    EXPECT_TRUE(is_refused_as_misuse({.hold_at_least = wrong})) << wrong.count();
  }
  EXPECT_FALSE(is_refused_as_misuse({.hold_at_least = 24h}));
}

class LockDelay : public closing_test {};

TEST_F(LockDelay, IsNotTimeThatTheHolderCountsOn) {
  const auto held = acquire({.lock_delay = 20s});
  EXPECT_EQ(held.remaining(), 29s);
  EXPECT_EQ(row().remaining, 50s);
}

TEST_F(LockDelay, KeepsOthersOutAfterALeaseRanOut) {
  rows_.before("renew", [] { throw error{errc::unavailable, "the network is down"}; });
  const auto held = acquire({.lock_delay = 20s});
  time_->advance(30s);
  await(held.lost());
  const auto refused = locks_->try_acquire(key_);
  ASSERT_FALSE(refused.acquired());
  EXPECT_EQ(refused.refusal().remaining, 20s);
  time_->advance(20s);
  EXPECT_TRUE(locks_->try_acquire(key_).acquired());
  EXPECT_EQ(row().expiry_count, 1);
}

TEST_F(LockDelay, IsKeptByARenewal) {
  const auto held = acquire({.lock_delay = 20s});
  time_->advance(10s);
  await_that([&] { return held.remaining() >= 29s; });
  EXPECT_EQ(held.remaining(), 29s);
  EXPECT_EQ(row().remaining, 50s);
}

TEST_F(LockDelay, IsOverAtARelease) {
  auto held = acquire({.lock_delay = 20s});
  EXPECT_EQ(held.release(), release_result::released);
  EXPECT_EQ(closed_for(), 0s);
}

TEST_F(LockDelay, OfTheTableHoldsUnlessTheAttemptSaysOtherwise) {
  lock_table patient{rows_, {.ttl = 30s, .margin = 1s, .lock_delay = 7s, .time = time_}};
  {
    const auto held = patient.try_acquire(key_);
    EXPECT_EQ(row().remaining, 37s);
  }
  const auto held = patient.try_acquire(key_, {.lock_delay = 0s});
  EXPECT_EQ(row().remaining, 30s);
}

TEST_F(LockDelay, IsMisuseOutOfItsBounds) {
  for (const std::chrono::milliseconds wrong :
       {-1ms, 24h - 30s + 1ms, std::chrono::milliseconds::max()}) {
    EXPECT_TRUE(is_refused_as_misuse({.lock_delay = wrong})) << wrong.count();
    EXPECT_THROW((lock_table{rows_, {.ttl = 30s, .lock_delay = wrong}}), error) << wrong.count();
  }
  EXPECT_FALSE(is_refused_as_misuse({.lock_delay = 24h - 30s}));
}

}  // namespace
}  // namespace rowlock::tests
