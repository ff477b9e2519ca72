// Leases of a lock_table, and their rows.
#include <unistd.h>

#include <optional>
#include <string>
#include <utility>

#include "conformance/locked_rows.hpp"
#include "conformance/store_test.hpp"
#include "rowlock/error.hpp"
#include "rowlock/lock_table.hpp"

namespace rowlock::tests {
namespace {

class Lease : public store_test {
 protected:
  lock_table ours_{*rows_, {.ttl = 1h, .holder = "ours"}};
  const std::shared_ptr<store> their_rows_ = bench_->open(20ms);
  lock_table their_locks_{*their_rows_, {.ttl = 1h, .holder = "theirs"}};
};

TEST_P(Lease, IsWrittenInTheRow) {
  const auto held = ours_.try_acquire(key_);
  ASSERT_TRUE(held.acquired());
  EXPECT_EQ(held->key(), key_);
  EXPECT_EQ(held->token(), row(key_).version);
  EXPECT_EQ(row(key_).holder, "ours");
  EXPECT_TRUE(row(key_).is_live());
  EXPECT_TRUE(held->is_valid());
  EXPECT_FALSE(held->lost().stop_requested());
  EXPECT_LT(held->remaining(), 1h);
  EXPECT_GT(held->remaining(), 30min);
}

TEST_P(Lease, RefusedTellsWhoHoldsTheKeyAndForHowLong) {
  const auto held = their_locks_.try_acquire(key_);
  const auto refused = ours_.try_acquire(key_);
  ASSERT_FALSE(refused.acquired());
  EXPECT_EQ(refused.refusal().reason, refusal_reason::held);
  EXPECT_EQ(refused.refusal().key, key_);
  EXPECT_EQ(refused.refusal().holder, "theirs");
  EXPECT_LE(refused.refusal().remaining, 1h);
  EXPECT_GT(refused.refusal().remaining, 30min);
  EXPECT_EQ(refused.refusal().current, held->token());
}

TEST_P(Lease, IsHeldAgainstTheLockTableThatHasIt) {
  const auto held = ours_.try_acquire(key_);
  const auto again = ours_.try_acquire(key_);
  ASSERT_FALSE(again.acquired());
  EXPECT_EQ(again.refusal().reason, refusal_reason::held);
}

TEST_P(Lease, ReleasedUnsetsTheRowOnce) {
  auto held = ours_.try_acquire(key_);
  EXPECT_EQ(held->release(), release_result::released);
  EXPECT_FALSE(row(key_).owned);
  EXPECT_FALSE(held->is_valid());
  EXPECT_EQ(held->remaining(), 0s);
  EXPECT_TRUE(their_locks_.try_acquire(key_).acquired());
  EXPECT_EQ(held->release(), release_result::lost);
}

TEST_P(Lease, DestroyedReleasesTheKey) {
  { const auto held = ours_.try_acquire(key_); }
  EXPECT_FALSE(row(key_).owned);
  EXPECT_EQ(row(key_).failure_count, 0);
}

TEST_P(Lease, MovedIsReleasedOnceByItsLastPlace) {
  std::optional<lease> kept;
  {
    auto held = ours_.try_acquire(key_);
    kept.emplace(*std::move(held));
  }
  EXPECT_TRUE(row(key_).is_live());
  EXPECT_TRUE(kept->is_valid());
  kept = *ours_.try_acquire(other_key_);
  EXPECT_FALSE(row(key_).owned);
  EXPECT_TRUE(row(other_key_).is_live());
}

TEST_P(Lease, ThatWasTakenOverReleasesNothing) {
  auto held = ours_.try_acquire(key_);
  bench_->run_out(key_);
  const auto taken = their_locks_.try_acquire(key_);
  ASSERT_TRUE(taken.acquired());
  EXPECT_GT(taken->token(), held->token());
  EXPECT_EQ(row(key_).expiry_count, 1);
  EXPECT_EQ(held->release(), release_result::lost);
  EXPECT_EQ(row(key_).holder, "theirs");
  EXPECT_TRUE(row(key_).is_live());
}

TEST_P(Lease, OutlivingItsLockTableIsLostAndItsRowUnset) {
  std::optional<lock_table> closing{std::in_place, *rows_, lock_options{.ttl = 1h}};
  auto held = closing->try_acquire(key_);
  closing.reset();
  EXPECT_FALSE(held->is_valid());
  EXPECT_TRUE(held->lost().stop_requested());
  EXPECT_EQ(held->release(), release_result::lost);
  EXPECT_FALSE(row(key_).owned);
}

TEST_P(Lease, TakesTheTtlOfItsAttempt) {
  const auto held = ours_.try_acquire(key_, {.ttl = 5min});
  EXPECT_LE(row(key_).remaining, 5min);
  EXPECT_LT(held->remaining(), 5min);
}

TEST_P(Lease, NamesHostAndProcessWhenNobodyNamesAHolder) {
  lock_table unnamed{*rows_};
  const auto held = unnamed.try_acquire(key_);
  EXPECT_TRUE(row(key_).holder.ends_with(':' + std::to_string(getpid()))) << row(key_).holder;
}

TEST_P(Lease, OfAnExpectedVersionIsGrantedAtItAndStaleAfterIt) {
  const auto seen = ours_.read(key_);
  ASSERT_TRUE(seen.acquired());
  EXPECT_TRUE(their_locks_.try_acquire(key_, {.expected = *seen}).acquired());
  const auto refused = ours_.try_acquire(key_, {.expected = *seen});
  ASSERT_FALSE(refused.acquired());
  EXPECT_EQ(refused.refusal().reason, refusal_reason::stale);
  EXPECT_EQ(refused.refusal().current, row(key_).version);
}

// A wait can bring no version back.
TEST_P(Lease, OfAVersionThatIsStaleDoesNotWait) {
  const auto seen = *ours_.read(key_);
  { const auto held = ours_.try_acquire(key_); }
  const auto refused = ours_.try_acquire(key_, {.wait = wait_forever(), .expected = seen});
  ASSERT_FALSE(refused.acquired());
  EXPECT_EQ(refused.refusal().reason, refusal_reason::stale);
}

class VersionToRead : public Lease {};

TEST_P(VersionToRead, IsThatOfTheUnownedRowWhichIsCreatedIfMissing) {
  const auto seen = ours_.read(key_);
  ASSERT_TRUE(seen.acquired());
  EXPECT_EQ(*seen, row(key_).version);
  EXPECT_EQ(*ours_.read(key_), *seen);
}

TEST_P(VersionToRead, IsRefusedWhileALeaseIsLive) {
  const auto held = their_locks_.try_acquire(key_);
  const auto seen = ours_.read(key_);
  ASSERT_FALSE(seen.acquired());
  EXPECT_EQ(seen.refusal().reason, refusal_reason::held);
  EXPECT_EQ(seen.refusal().holder, "theirs");
  EXPECT_GT(seen.refusal().remaining, 30min);
}

TEST_P(VersionToRead, EndsALeaseThatRanOut) {
  auto late = their_locks_.try_acquire(key_);
  bench_->run_out(key_);
  const auto seen = ours_.read(key_);
  ASSERT_TRUE(seen.acquired());
  EXPECT_GT(*seen, late->token());
  EXPECT_EQ(late->release(), release_result::lost);
  EXPECT_TRUE(ours_.try_acquire(key_, {.expected = *seen}).acquired());
}

INSTANTIATE_TEST_SUITE_P(Stores, Lease, testing::ValuesIn(every_store()), name_of);
INSTANTIATE_TEST_SUITE_P(Stores, VersionToRead, testing::ValuesIn(every_store()), name_of);

class LeaseBesideTransactions : public Lease {};

TEST_P(LeaseBesideTransactions, OfALockedRowIsRefusedAsBusyWithNobodysName) {
  unowned(key_);
  const locked_rows locked{*bench_, key_};
  const auto refused = their_locks_.try_acquire(key_);
  ASSERT_FALSE(refused.acquired());
  EXPECT_EQ(refused.refusal().reason, refusal_reason::busy);
  EXPECT_EQ(refused.refusal().holder, "");
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LeaseBesideTransactions);
INSTANTIATE_TEST_SUITE_P(Stores, LeaseBesideTransactions,
                         testing::ValuesIn(stores_with_transactions()), name_of);

class VersionToReadBesideTransactions : public Lease {};

TEST_P(VersionToReadBesideTransactions, IsRefusedAsBusyWhereALeaseThatRanOutIsLocked) {
  run_out(key_, theirs_);
  const locked_rows locked{*bench_, key_};
  const auto seen = their_locks_.read(key_);
  ASSERT_FALSE(seen.acquired());
  EXPECT_EQ(seen.refusal().reason, refusal_reason::busy);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(VersionToReadBesideTransactions);
INSTANTIATE_TEST_SUITE_P(Stores, VersionToReadBesideTransactions,
                         testing::ValuesIn(stores_with_transactions()), name_of);

}  // namespace
}  // namespace rowlock::tests
