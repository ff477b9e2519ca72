// Versions only rise, and move exactly when possession does.
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
  ASSERT_EQ(release(key_, mine_, first), release_answer::released);
  rises("release");
  const auto second = granted(key_, mine_);
  rises("second grant");
  ASSERT_EQ(release(key_, mine_, second, true), release_answer::released);
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
  locked_rows{*bench_, key_}.commit();
  rises("row lock");
  open_transaction committing{*bench_};
  ASSERT_EQ(committing->try_commit(key_, seen.back()), commit_result::committed);
  committing.commit();
  rises("optimistic commit");
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

TEST_P(Version, IsRestoredByARollback) {
  const auto seen = unowned(key_);
  locked_rows{*bench_, key_}.roll_back();
  EXPECT_EQ(row(key_).version, seen);
  open_transaction committing{*bench_};
  ASSERT_EQ(committing->try_commit(key_, seen), commit_result::committed);
  committing.roll_back();
  EXPECT_EQ(row(key_).version, seen);
}

// A purged row, or one that a crash lost, must not come back with an old number.
TEST_P(Version, OfANewRowIsAboveTheVersionsOfRowsMadeBefore) {
  const auto earlier = granted(key_, mine_);
  EXPECT_GE(granted(other_key_, mine_), earlier);
}

INSTANTIATE_TEST_SUITE_P(Stores, Version, testing::ValuesIn(every_store()), name_of);

}  // namespace
}  // namespace rowlock::tests
