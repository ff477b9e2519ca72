// Versions only rise, and move exactly when possession does.
#include <functional>
#include <vector>

#include "conformance/locked_rows.hpp"
#include "conformance/store_test.hpp"

namespace rowlock::tests {
namespace {

class Version : public store_test {};

TEST_P(Version, RisesAtEveryGrantAndEveryEndOfOne) {
  std::vector<version> seen{unowned(key_)};
  const auto rises = [&](const char* at) {
    seen.push_back(row(key_).version);
    EXPECT_GT(seen.back(), seen[seen.size() - 2]) << at;
  };
  const auto first = granted(key_, mine_);
  rises("grant");
  ASSERT_EQ(release(key_, mine_, first), change_answer::done);
  rises("release");
  const auto second = granted(key_, mine_);
  rises("second grant");
  ASSERT_EQ(release(key_, mine_, second, true), change_answer::done);
  rises("release after a failure");
  run_out(key_, theirs_);
  rises("rival's grant");
  granted(key_, mine_);
  rises("takeover");
  bench_->run_out(key_);
  granted(key_, mine_);
  rises("new grant to the same owner");
  bench_->run_out(key_);
  prepare(key_);
  rises("lease that ran out is unset");
}

TEST_P(Version, DoesNotMoveWhenPossessionDoesNot) {
  const auto mine = granted(key_, mine_);
  renew(key_, mine_, mine);
  acquire(key_, mine_);
  acquire(key_, theirs_);
  acquire(key_, theirs_, mine);
  release(key_, theirs_, mine);
  prepare(key_);
  rows_->list();
  EXPECT_EQ(row(key_).version, mine);
  bench_->run_out(key_);
  EXPECT_EQ(row(key_).version, mine);
}

// A purged row, or one that a crash lost, must not come back with an old number.
TEST_P(Version, OfANewRowIsAboveTheVersionsOfRowsMadeBefore) {
  const auto earlier = granted(key_, mine_);
  EXPECT_GE(granted(other_key_, mine_), earlier);
}

// So that a row that comes back after a purge, or after a crash that lost commits, or on a server
// with another clock, gets no version that a reader has seen already.
class VersionAndClock : public store_test {
 protected:
  /// Lets the row's version be behind the clock and ahead of it, and moves it by `move`.
  void expect_greater_and_not_behind(const std::function<void(const lock_key&)>& make,
                                     const std::function<void(const lock_key&, version)>& move) {
    const lock_key resting{"invoice", "resting"};
    make(resting);
    bench_->leave_behind_the_clock(resting);
    const auto now = unowned({"invoice", "now"});
    move(resting, row(resting).version);
    EXPECT_GE(row(resting).version, now);

    const lock_key hasty{"invoice", "hasty"};
    make(hasty);
    bench_->put_ahead_of_the_clock(hasty);
    const auto before = row(hasty).version;
    move(hasty, before);
    EXPECT_GT(row(hasty).version, before);
  }
};

TEST_P(VersionAndClock, MeetAtAGrant) {
  expect_greater_and_not_behind([&](const auto& key) { unowned(key); },
                                [&](const auto& key, version) { granted(key, mine_); });
}

TEST_P(VersionAndClock, MeetAtAGrantOfAnExpectedVersion) {
  expect_greater_and_not_behind([&](const auto& key) { unowned(key); },
                                [&](const auto& key, version seen) {
                                  EXPECT_EQ(acquire(key, mine_, seen).status,
                                            acquire_status::granted);
                                });
}

TEST_P(VersionAndClock, MeetAtATakeover) {
  expect_greater_and_not_behind([&](const auto& key) { run_out(key, theirs_); },
                                [&](const auto& key, version) { granted(key, mine_); });
}

TEST_P(VersionAndClock, MeetAtARelease) {
  expect_greater_and_not_behind([&](const auto& key) { granted(key, mine_); },
                                [&](const auto& key, version granted_at) {
                                  EXPECT_EQ(release(key, mine_, granted_at), change_answer::done);
                                });
}

TEST_P(VersionAndClock, MeetWhenALeaseThatRanOutIsUnset) {
  expect_greater_and_not_behind([&](const auto& key) { run_out(key, theirs_); },
                                [&](const auto& key, version) { prepare(key); });
}

class BlankRow : public store_test {};

TEST_P(BlankRow, IsWhatEveryEndOfALeaseLeaves) {
  const auto mine = granted(key_, mine_);
  EXPECT_FALSE(bench_->is_blank(key_));
  ASSERT_EQ(release(key_, mine_, mine), change_answer::done);
  EXPECT_TRUE(bench_->is_blank(key_)) << "released";
  run_out(key_, mine_);
  EXPECT_FALSE(bench_->is_blank(key_));
  prepare(key_);
  EXPECT_TRUE(bench_->is_blank(key_)) << "unset after it ran out";
}

TEST_P(BlankRow, IsWhatIsCreated) {
  prepare(key_);
  EXPECT_TRUE(bench_->is_blank(key_)) << "prepared";
}

INSTANTIATE_TEST_SUITE_P(Stores, VersionAndClock,
                         testing::ValuesIn(alone_and_beside_others(every_store())), name_of);
INSTANTIATE_TEST_SUITE_P(Stores, BlankRow,
                         testing::ValuesIn(alone_and_beside_others(every_store())), name_of);
INSTANTIATE_TEST_SUITE_P(Stores, Version, testing::ValuesIn(alone_and_beside_others(every_store())),
                         name_of);

class VersionInTransactions : public store_test {};

TEST_P(VersionInTransactions, RisesAtARowLockAndAtAnOptimisticCommit) {
  const auto first = unowned(key_);
  locked_rows{*bench_, key_}.commit();
  const auto second = row(key_).version;
  EXPECT_GT(second, first);
  open_transaction committing{*bench_};
  ASSERT_EQ(committing->try_commit(key_, second), commit_result::committed);
  committing.commit();
  EXPECT_GT(row(key_).version, second);
}

TEST_P(VersionInTransactions, IsRestoredByARollback) {
  const auto seen = unowned(key_);
  locked_rows{*bench_, key_}.roll_back();
  EXPECT_EQ(row(key_).version, seen);
  open_transaction committing{*bench_};
  ASSERT_EQ(committing->try_commit(key_, seen), commit_result::committed);
  committing.roll_back();
  EXPECT_EQ(row(key_).version, seen);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(VersionInTransactions);
INSTANTIATE_TEST_SUITE_P(Stores, VersionInTransactions,
                         testing::ValuesIn(alone_and_beside_others(stores_with_transactions())),
                         name_of);

class VersionAndClockInTransactions : public VersionAndClock {};

TEST_P(VersionAndClockInTransactions, MeetAtARowLock) {
  expect_greater_and_not_behind([&](const auto& key) { unowned(key); },
                                [&](const auto& key, version) {
                                  locked_rows{*bench_, key}.commit();
                                });
}

TEST_P(VersionAndClockInTransactions, MeetAtAnOptimisticCommit) {
  expect_greater_and_not_behind([&](const auto& key) { unowned(key); },
                                [&](const auto& key, version seen) {
                                  open_transaction committing{*bench_};
                                  EXPECT_EQ(committing->try_commit(key, seen),
                                            commit_result::committed);
                                  committing.commit();
                                });
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(VersionAndClockInTransactions);
INSTANTIATE_TEST_SUITE_P(Stores, VersionAndClockInTransactions,
                         testing::ValuesIn(alone_and_beside_others(stores_with_transactions())),
                         name_of);

class BlankRowInTransactions : public store_test {};

TEST_P(BlankRowInTransactions, IsWhatARowLockLeaves) {
  run_out(key_, mine_);
  locked_rows{*bench_, key_}.commit();
  EXPECT_TRUE(bench_->is_blank(key_)) << "of a lease that ran out";
  locked_rows{*bench_, other_key_}.commit();
  EXPECT_TRUE(bench_->is_blank(other_key_)) << "of a missing row";
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(BlankRowInTransactions);
INSTANTIATE_TEST_SUITE_P(Stores, BlankRowInTransactions,
                         testing::ValuesIn(alone_and_beside_others(stores_with_transactions())),
                         name_of);

}  // namespace
}  // namespace rowlock::tests
