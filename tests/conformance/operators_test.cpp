// The functions for the person on call, on every store.
#include "rowlock/operators.hpp"

#include <string>

#include "conformance/locked_rows.hpp"
#include "conformance/store_test.hpp"
#include "rowlock/lock_table.hpp"

namespace rowlock::tests {
namespace {

class Operators : public store_test {};

class OperatorsAmongTransactions : public store_test {
 protected:
  /// Is called while another transaction may be writing, and does not wait long for a turn.
  const std::shared_ptr<store> rivals_ = bench_->open(20ms);
};

class OperatorsAmongStrangers : public OperatorsAmongTransactions {};

TEST_P(Operators, TakeAwayWhatTheyWereShownAndNothingElse) {
  lock_table locks{*rows_, {.ttl = 1h, .holder = "ours"}};
  const auto held = locks.try_acquire(key_);
  const auto refused = force_release(*rows_, key_, version{held->token().number - 1}, "why", "ann");
  EXPECT_EQ(refused.answer, force_answer::stale);
  EXPECT_EQ(refused.now->holder, "ours");
  const auto taken = force_release(*rows_, key_, show(*rows_, key_)->version, "why", "ann");
  EXPECT_EQ(taken.answer, force_answer::released);
  EXPECT_EQ(taken.now->force_reason, "why (by ann)");
  EXPECT_FALSE(taken.now->owned);
}

TEST_P(Operators, PurgeAllIdleRowsInSmallBatches) {
  for (int number = 0; number < 5; ++number) touch({"job", std::to_string(number)});
  for (int number = 0; number < 5; ++number) {
    bench_->leave_behind_the_clock({"job", std::to_string(number)});
  }
  const auto purged = purge(*rows_, 1h, 2);
  EXPECT_EQ(purged.purged, 5U);
  EXPECT_TRUE(purged.is_complete);
}

TEST_P(Operators, ShowNoTransactionWhereThereIsNone) {
  EXPECT_FALSE(show(*rows_, key_));
  const auto held = granted(key_, mine_);
  EXPECT_FALSE(show(*rows_, key_)->used_by);
  ASSERT_EQ(release(key_, mine_, held), change_answer::done);
  EXPECT_FALSE(show(*rows_, key_)->used_by);
}

TEST_P(OperatorsAmongTransactions, ShowThatATransactionHasLockedAFreeRow) {
  const auto seen = unowned(key_);
  locked_rows locked{*bench_, key_};
  const auto shown = show(*rivals_, key_);
  EXPECT_EQ(shown->version, seen);
  ASSERT_TRUE(shown->used_by);
  EXPECT_NE(*shown->used_by, "");
  locked.roll_back();
  EXPECT_FALSE(show(*rivals_, key_)->used_by);
}

TEST_P(OperatorsAmongTransactions, ShowThatTheLockOfARowIsGoneWithItsCommit) {
  unowned(key_);
  locked_rows locked{*bench_, key_};
  locked.commit();
  EXPECT_FALSE(show(*rivals_, key_)->used_by);
}

TEST_P(OperatorsAmongTransactions, ShowAFenceThatIsNotCommitted) {
  lock_table locks{*rows_, {.ttl = 1h}};
  const auto held = locks.try_acquire(key_);
  open_transaction fenced{*bench_};
  fenced->fence(*held);
  EXPECT_TRUE(show(*rivals_, key_)->used_by);
  const auto refused = force_release(*rivals_, key_, held->token(), "why", "ann");
  EXPECT_EQ(refused.answer, force_answer::busy);
  EXPECT_TRUE(refused.now->used_by);
  fenced.commit();
  EXPECT_FALSE(show(*rivals_, key_)->used_by);
}

TEST_P(OperatorsAmongStrangers, ShowThatAStrangerHasLockedTheRow) {
  unowned(key_);
  auto stranger = bench_->lock_as_a_stranger(key_);
  EXPECT_TRUE(show(*rivals_, key_)->used_by);
  stranger.reset();
  EXPECT_FALSE(show(*rivals_, key_)->used_by);
}

INSTANTIATE_TEST_SUITE_P(Stores, Operators, testing::ValuesIn(every_store()), name_of);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(OperatorsAmongTransactions);
INSTANTIATE_TEST_SUITE_P(Stores, OperatorsAmongTransactions,
                         testing::ValuesIn(stores_with_transactions()), name_of);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(OperatorsAmongStrangers);
INSTANTIATE_TEST_SUITE_P(Stores, OperatorsAmongStrangers,
                         testing::ValuesIn(stores_with_foreign_transactions()), name_of);

}  // namespace
}  // namespace rowlock::tests
