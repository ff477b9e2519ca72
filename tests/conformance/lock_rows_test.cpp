// Pessimistic locks in the application's own transaction.
#include <vector>

#include "conformance/locked_rows.hpp"
#include "conformance/store_test.hpp"

namespace rowlock::tests {
namespace {

class LockRows : public store_test {
 protected:
  const std::shared_ptr<store> rivals_ = bench_->open(20ms);
};

TEST_P(LockRows, MovesTheVersionInTheTransaction) {
  const auto before = unowned(key_);
  open_transaction locking{*bench_};
  const auto locked = locking->lock_rows(key_, no_wait());
  ASSERT_TRUE(locked.acquired());
  ASSERT_EQ(locked->rows.size(), 1U);
  EXPECT_EQ(locked->rows[0].key, key_);
  EXPECT_GT(locked->rows[0].version, before);
  EXPECT_EQ(row(key_).version, before);
  locking.commit();
  EXPECT_EQ(row(key_).version, locked->rows[0].version);
  EXPECT_FALSE(row(key_).owned);
  EXPECT_EQ(row(key_).expiry_count, 0);
}

TEST_P(LockRows, RolledBackLeavesTheRowAsItWas) {
  run_out(key_, theirs_);
  const auto before = described(row(key_));
  locked_rows{*bench_, key_}.roll_back();
  EXPECT_EQ(described(row(key_)), before);
}

TEST_P(LockRows, AnswersWithTheRowsInTheOrderOfBytesEachOnce) {
  const lock_key upper{"invoice", "B"};
  const lock_key lower{"invoice", "a"};
  const lock_key first{"Invoice", "z"};
  unowned(lower);
  open_transaction locking{*bench_};
  const auto locked = locking->lock_rows({lower, upper, first, lower}, no_wait());
  ASSERT_TRUE(locked.acquired());
  ASSERT_EQ(locked->rows.size(), 3U);
  locking.commit();
  EXPECT_EQ(locked->rows[0].key, first);
  EXPECT_EQ(locked->rows[1].key, upper);
  EXPECT_EQ(locked->rows[2].key, lower);
  for (const auto& each : locked->rows) EXPECT_EQ(each.version, row(each.key).version);
}

TEST_P(LockRows, CreatesAMissingRowInTheTransaction) {
  locked_rows locked{*bench_, {key_, other_key_}};
  EXPECT_FALSE(read(key_));
  EXPECT_GT(locked.version().number, 0);
  locked.commit();
  EXPECT_EQ(row(key_).version, locked.version());
  EXPECT_FALSE(row(key_).owned);
  EXPECT_FALSE(row(other_key_).owned);
}

TEST_P(LockRows, EndsALeaseThatRanOutAndCountsIt) {
  const auto their_version = run_out(key_, theirs_);
  locked_rows locked{*bench_, key_};
  locked.commit();
  EXPECT_GT(locked.version(), their_version);
  EXPECT_FALSE(row(key_).owned);
  EXPECT_EQ(row(key_).holder, "");
  EXPECT_EQ(row(key_).expiry_count, 1);
  EXPECT_EQ(renew(key_, theirs_, their_version), change_answer::lost);
}

TEST_P(LockRows, IsRefusedAsHeldWhileALeaseIsLive) {
  const auto their_version = granted(key_, theirs_);
  open_transaction locking{*bench_};
  const auto locked = locking->lock_rows(key_, no_wait());
  ASSERT_FALSE(locked.acquired());
  EXPECT_EQ(locked.refusal().reason, refusal_reason::held);
  EXPECT_EQ(locked.refusal().key, key_);
  EXPECT_EQ(locked.refusal().holder, "host:1");
  EXPECT_GT(locked.refusal().remaining, 30min);
  EXPECT_LE(locked.refusal().remaining, 1h);
  EXPECT_EQ(locked.refusal().current, their_version);
}

TEST_P(LockRows, RefusedLeavesTheTransactionUsable) {
  granted(key_, theirs_);
  open_transaction locking{*bench_};
  locking->write_note("before");
  ASSERT_FALSE(locking->lock_rows(key_, no_wait()).acquired());
  locking->write_note("after");
  EXPECT_TRUE(locking->lock_rows(other_key_, no_wait()).acquired());
  locking.commit();
  EXPECT_EQ(bench_->connect()->notes(), (std::vector<std::string>{"before", "after"}));
  EXPECT_FALSE(row(other_key_).owned);
}

TEST_P(LockRows, OfSeveralLocksAllOrNone) {
  const lock_key missing{"invoice", "44"};
  const auto free_version = unowned(key_);
  const auto run_out_version = run_out({"invoice", "45"}, mine_);
  granted(other_key_, theirs_);
  open_transaction locking{*bench_};
  const auto locked = locking->lock_rows({key_, other_key_, missing, {"invoice", "45"}}, no_wait());
  ASSERT_FALSE(locked.acquired());
  EXPECT_EQ(locked.refusal().reason, refusal_reason::held);
  EXPECT_EQ(locked.refusal().key, other_key_);
  locking.commit();
  EXPECT_EQ(row(key_).version, free_version);
  EXPECT_FALSE(read(missing));
  EXPECT_EQ(row({"invoice", "45"}).version, run_out_version);
  EXPECT_EQ(row({"invoice", "45"}).expiry_count, 0);
}

TEST_P(LockRows, AgainInTheSameTransactionIsGrantedToo) {
  open_transaction locking{*bench_};
  const auto once = locking->lock_rows(key_, no_wait());
  const auto twice = locking->lock_rows({key_, other_key_}, no_wait());
  ASSERT_TRUE(once.acquired());
  ASSERT_TRUE(twice.acquired());
  EXPECT_GE(twice->rows.at(0).version, once->rows.at(0).version);
  locking.commit();
  EXPECT_EQ(row(key_).version, twice->rows.at(0).version);
}

TEST_P(LockRows, KeepsTheRowUntilTheTransactionEndsEitherWay) {
  for (const bool is_committed : {true, false}) {
    locked_rows locked{*bench_, key_};
    EXPECT_EQ(acquire(*rivals_, key_, mine_).status, acquire_status::busy);
    is_committed ? locked.commit() : locked.roll_back();
    const auto mine = acquire(*rivals_, key_, mine_);
    ASSERT_EQ(mine.status, acquire_status::granted);
    ASSERT_EQ(release(key_, mine_, mine.version.value()), change_answer::done);
  }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LockRows);
INSTANTIATE_TEST_SUITE_P(Stores, LockRows, testing::ValuesIn(stores_with_transactions()), name_of);

}  // namespace
}  // namespace rowlock::tests
