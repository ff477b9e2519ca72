// Waiting for a held key.
#include <future>
#include <memory>
#include <stop_token>

#include "conformance/locked_rows.hpp"
#include "conformance/store_test.hpp"
#include "rowlock/lock_table.hpp"
#include "support/patience.hpp"
#include "support/watched_store.hpp"

namespace rowlock::tests {
namespace {

class Waiting : public store_test {
 protected:
  /// Tries to acquire `key_` in a thread of its own.
  std::future<outcome<lease>> waiter(const retry_policy& wait) {
    return std::async(std::launch::async,
                      [this, wait] { return ours_->try_acquire(key_, {.wait = wait}); });
  }

  lock_table their_locks_{*rows_, {.ttl = 1h, .holder = "theirs"}};
  const std::shared_ptr<store> impatient_ = bench_->open(20ms);
  watched_store watched_{*impatient_};
  std::optional<lock_table> ours_{std::in_place, watched_, lock_options{.ttl = 1h}};
};

TEST_P(Waiting, IsGrantedWhenTheHolderReleases) {
  auto held = their_locks_.try_acquire(key_);
  auto waiting = waiter(wait_forever());
  watched_.await_refusals(2);
  ASSERT_EQ(held->release(), release_result::released);
  const auto granted = waiting.get();
  ASSERT_TRUE(granted.acquired());
  EXPECT_EQ(granted->token(), row(key_).version);
}

TEST_P(Waiting, IsGrantedWhenTheHoldersLeaseRunsOut) {
  const auto held = their_locks_.try_acquire(key_);
  auto waiting = waiter(wait_for(patience));
  watched_.await_refusals(2);
  bench_->run_out(key_);
  EXPECT_TRUE(waiting.get().acquired());
  EXPECT_EQ(row(key_).expiry_count, 1);
}

TEST_P(Waiting, IsRefusedAsTimedOutWhenItsTimeIsOverAndStillSaysWhoHoldsTheKey) {
  const auto held = their_locks_.try_acquire(key_);
  const auto refused = ours_->try_acquire(key_, {.wait = wait_for(50ms)});
  ASSERT_FALSE(refused.acquired());
  EXPECT_EQ(refused.refusal().reason, refusal_reason::timed_out);
  EXPECT_EQ(refused.refusal().holder, "theirs");
  EXPECT_GT(refused.refusal().remaining, 30min);
}

TEST_P(Waiting, ForZeroOrANegativeDurationTriesOnceAndIsRefusedAsHeld) {
  const auto held = their_locks_.try_acquire(key_);
  int tries = 0;
  for (const auto wait : {0ms, -1ms, std::chrono::milliseconds{-24h}}) {
    const auto refused = ours_->try_acquire(key_, {.wait = wait_for(wait)});
    ASSERT_FALSE(refused.acquired());
    EXPECT_EQ(refused.refusal().reason, refusal_reason::held);
    EXPECT_EQ(watched_.refusals(), ++tries);
  }
}

TEST_P(Waiting, ForANegativeDurationIsGrantedIfTheKeyIsFree) {
  EXPECT_TRUE(ours_->try_acquire(key_, {.wait = wait_for(-1ms)}).acquired());
}

TEST_P(Waiting, IsRefusedAsTimedOutAfterTheLastOfItsAttempts) {
  const auto held = their_locks_.try_acquire(key_);
  const auto refused = ours_->try_acquire(
      key_, {.wait = retry_policy{.attempts = 3, .first_pause = 1ms, .longest_pause = 2ms}});
  ASSERT_FALSE(refused.acquired());
  EXPECT_EQ(refused.refusal().reason, refusal_reason::timed_out);
  watched_.await_refusals(3);
}

TEST_P(Waiting, IsRefusedAsStoppedWhenAStopIsRequested) {
  const auto held = their_locks_.try_acquire(key_);
  std::stop_source stop;
  auto waiting = waiter(wait_until_stopped(stop.get_token()));
  watched_.await_refusals(1);
  stop.request_stop();
  const auto refused = waiting.get();
  ASSERT_FALSE(refused.acquired());
  EXPECT_EQ(refused.refusal().reason, refusal_reason::stopped);
  EXPECT_TRUE(held->is_valid());
}

TEST_P(Waiting, IsRefusedAsStoppedWhenTheLockTableIsDestroyed) {
  const auto held = their_locks_.try_acquire(key_);
  auto waiting = waiter(wait_forever());
  watched_.await_refusals(1);
  ours_.reset();
  const auto refused = waiting.get();
  ASSERT_FALSE(refused.acquired());
  EXPECT_EQ(refused.refusal().reason, refusal_reason::stopped);
}

TEST_P(Waiting, RunsTheCallbackOnceTheKeyIsFree) {
  auto held = their_locks_.try_acquire(key_);
  auto waiting = std::async(std::launch::async, [&] {
    return ours_->with_lock(key_, [&] { return row(key_).is_live(); }, {.wait = wait_forever()});
  });
  watched_.await_refusals(1);
  ASSERT_EQ(held->release(), release_result::released);
  EXPECT_TRUE(*waiting.get());
}

INSTANTIATE_TEST_SUITE_P(Stores, Waiting, testing::ValuesIn(every_store()), name_of);

class WaitingForTransactions : public Waiting {};

TEST_P(WaitingForTransactions, IsGrantedWhenTheTransactionOfALockedRowEnds) {
  unowned(key_);
  locked_rows locked{*bench_, key_};
  auto waiting = waiter(wait_forever());
  watched_.await_refusals(2);
  locked.commit();
  EXPECT_TRUE(waiting.get().acquired());
}

TEST_P(WaitingForTransactions, OfARowLockForZeroOrANegativeDurationIsRefusedAsHeldOrGranted) {
  const auto held = their_locks_.try_acquire(key_);
  const auto connection = bench_->connect();
  for (const auto wait : {0ms, -1ms, std::chrono::milliseconds{-24h}}) {
    const auto with = [&](const lock_key& key) {
      return connection->with_row_lock(key, wait_for(wait), [](app_transaction&) { return 42; });
    };
    EXPECT_EQ(with(key_).refusal().reason, refusal_reason::held);
    EXPECT_EQ(*with({"job", "free"}), 42);
  }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(WaitingForTransactions);
INSTANTIATE_TEST_SUITE_P(Stores, WaitingForTransactions,
                         testing::ValuesIn(stores_with_transactions()), name_of);

}  // namespace
}  // namespace rowlock::tests
