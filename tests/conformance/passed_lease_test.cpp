// Leases that are extended by hand, and that pass from one process to another.
#include <optional>
#include <string>

#include "conformance/store_test.hpp"
#include "rowlock/error.hpp"
#include "rowlock/lock_table.hpp"

namespace rowlock::tests {
namespace {

class PassedLease : public store_test {
 protected:
  lock_table ours_{*rows_, {.ttl = 1h, .holder = "ours"}};
  const std::shared_ptr<store> their_rows_ = bench_->open(20ms);
  lock_table theirs_{*their_rows_, {.ttl = 1h, .holder = "theirs"}};
};
class PassedLeaseInTransactions : public PassedLease {};

TEST_P(PassedLease, IsTheNextHoldersWithALargerToken) {
  lease held = *ours_.try_acquire(key_);
  auto taken = theirs_.take_over(held.pass_on());
  ASSERT_TRUE(taken.acquired());
  EXPECT_GT(taken->token(), held.token());
  EXPECT_EQ(row(key_).version, taken->token());
  EXPECT_EQ(row(key_).holder, "theirs");
  EXPECT_TRUE(row(key_).is_live());
  EXPECT_EQ(row(key_).expiry_count, 0);
  EXPECT_EQ(row(key_).failure_count, 0);
  EXPECT_EQ(held.release(), release_result::passed_on);
  EXPECT_TRUE(row(key_).is_live());
  EXPECT_EQ(taken->release(), release_result::released);
  EXPECT_FALSE(row(key_).owned);
}

TEST_P(PassedLease, IsTakenOverOnce) {
  const auto text = ours_.try_acquire(key_)->pass_on();
  const auto first = theirs_.take_over(text);
  ASSERT_TRUE(first.acquired());
  const auto second = ours_.take_over(text);
  ASSERT_FALSE(second.acquired());
  EXPECT_EQ(second.refusal().reason, refusal_reason::held);
  EXPECT_EQ(second.refusal().holder, "theirs");
  EXPECT_EQ(row(key_).version, first->token());
}

TEST_P(PassedLease, ThatRanOutIsOver) {
  const auto text = ours_.try_acquire(key_)->pass_on();
  bench_->run_out(key_);
  const auto late = theirs_.take_over(text);
  ASSERT_FALSE(late.acquired());
  EXPECT_EQ(late.refusal().reason, refusal_reason::stale);
  EXPECT_TRUE(theirs_.try_acquire(key_).acquired());
}

TEST_P(PassedLease, OfAForgedOwnerOrOfAnotherTableIsRefused) {
  const lease held = *ours_.try_acquire(key_);
  const auto before = row(key_).version;
  const auto forged = "rl1." + key_.type + "." + key_.source_id + "." +
                      std::to_string(before.number) + "." + make_owner_id().text;
  EXPECT_FALSE(theirs_.take_over(forged).acquired());
  const auto of_no_row =
      "rl1.other-table.1." + std::to_string(before.number) + "." + make_owner_id().text;
  const auto missing = theirs_.take_over(of_no_row);
  ASSERT_FALSE(missing.acquired());
  EXPECT_EQ(missing.refusal().reason, refusal_reason::stale);
  EXPECT_FALSE(read({"other-table", "1"})) << "a missing row was inserted";
  EXPECT_EQ(row(key_).version, before);
  EXPECT_TRUE(held.is_valid());
}

TEST_P(PassedLease, ExtendedBeforeHasThatTime) {
  const lease held = *ours_.try_acquire(key_);
  EXPECT_EQ(held.extend(3h), extend_result::extended);
  EXPECT_GT(held.remaining(), 2h);
  EXPECT_GT(row(key_).remaining, 2h);
  EXPECT_EQ(row(key_).ttl, 3h);
  EXPECT_EQ(row(key_).version, held.token());
}

TEST_P(PassedLeaseInTransactions, CannotFenceAndItsFencedTransactionEndsFirst) {
  const lease held = *ours_.try_acquire(key_);
  const auto application = bench_->connect();
  auto work = *application->begin();
  work->fence(held);
  const auto text = held.pass_on();
  const auto too_early = theirs_.take_over(text);
  ASSERT_FALSE(too_early.acquired());
  EXPECT_EQ(too_early.refusal().reason, refusal_reason::busy);
  work->commit();
  const auto taken = theirs_.take_over(text);
  ASSERT_TRUE(taken.acquired());
  auto late = *application->begin();
  EXPECT_THROW(late->fence(held), lease_lost);
  late.reset();
  auto next = *application->begin();
  next->fence(*taken);
  next->commit();
}

INSTANTIATE_TEST_SUITE_P(Stores, PassedLease, testing::ValuesIn(every_store()), name_of);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PassedLeaseInTransactions);
INSTANTIATE_TEST_SUITE_P(Stores, PassedLeaseInTransactions,
                         testing::ValuesIn(stores_with_transactions()), name_of);

}  // namespace
}  // namespace rowlock::tests
