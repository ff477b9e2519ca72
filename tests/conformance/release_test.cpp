// Releasing, in each state of the row.
#include "conformance/store_test.hpp"

namespace rowlock::tests {
namespace {

class Release : public store_test {};

TEST_P(Release, OfAMissingRowIsLostAndInsertsNone) {
  EXPECT_EQ(release(key_, mine_, version{1}), change_answer::lost);
  EXPECT_FALSE(read(key_));
}

TEST_P(Release, UnsetsTheRowAndMovesItsVersion) {
  const auto my_version = granted(key_, mine_);
  EXPECT_EQ(release(key_, mine_, my_version), change_answer::done);
  const auto after = row(key_);
  EXPECT_FALSE(after.owned);
  EXPECT_EQ(after.holder, "");
  EXPECT_EQ(after.acquired_at, "");
  EXPECT_FALSE(after.remaining);
  EXPECT_GT(after.version, my_version);
  EXPECT_EQ(after.failure_count, 0);
  EXPECT_EQ(after.expiry_count, 0);
}

TEST_P(Release, LetsOthersAcquireAtOnce) {
  const auto my_version = granted(key_, mine_);
  ASSERT_EQ(release(key_, mine_, my_version), change_answer::done);
  EXPECT_EQ(acquire(key_, theirs_).status, acquire_status::granted);
  EXPECT_EQ(row(key_).expiry_count, 0);
}

TEST_P(Release, OfFailedWorkCountsTheFailure) {
  for (const std::int64_t failures : {1, 2}) {
    ASSERT_EQ(release(key_, mine_, granted(key_, mine_), true), change_answer::done);
    EXPECT_FALSE(row(key_).owned);
    EXPECT_EQ(row(key_).failure_count, failures);
  }
  ASSERT_EQ(release(key_, mine_, granted(key_, mine_)), change_answer::done);
  EXPECT_EQ(row(key_).failure_count, 2);
}

TEST_P(Release, ASecondTimeIsLost) {
  const auto my_version = granted(key_, mine_);
  ASSERT_EQ(release(key_, mine_, my_version), change_answer::done);
  const auto before = described(row(key_));
  EXPECT_EQ(release(key_, mine_, my_version, true), change_answer::lost);
  EXPECT_EQ(release(key_, mine_, row(key_).version, true), change_answer::lost);
  EXPECT_EQ(described(row(key_)), before);
}

TEST_P(Release, AtAnotherVersionIsLost) {
  const auto my_version = granted(key_, mine_);
  const auto before = described(row(key_));
  EXPECT_EQ(release(key_, mine_, version{my_version.number - 1}, true), change_answer::lost);
  EXPECT_EQ(release(key_, mine_, version{my_version.number + 1}, true), change_answer::lost);
  EXPECT_EQ(described(row(key_)), before);
}

TEST_P(Release, ByAnotherOwnerIsLost) {
  const auto their_version = granted(key_, theirs_);
  const auto before = described(row(key_));
  EXPECT_EQ(release(key_, mine_, their_version, true), change_answer::lost);
  EXPECT_EQ(described(row(key_)), before);
}

TEST_P(Release, OfALeaseThatRanOutAndThatNobodyTookIsReleased) {
  const auto my_version = run_out(key_, mine_);
  EXPECT_EQ(release(key_, mine_, my_version, true), change_answer::done);
  EXPECT_FALSE(row(key_).owned);
  EXPECT_GT(row(key_).version, my_version);
  EXPECT_EQ(row(key_).failure_count, 1);
  EXPECT_EQ(row(key_).expiry_count, 0);
}

TEST_P(Release, OfAnothersLeaseThatRanOutIsLost) {
  const auto their_version = run_out(key_, theirs_);
  EXPECT_EQ(release(key_, mine_, their_version), change_answer::lost);
  EXPECT_TRUE(row(key_).owned);
}

TEST_P(Release, OfALeaseThatWasTakenOverIsLost) {
  const auto my_version = run_out(key_, mine_);
  granted(key_, theirs_);
  const auto before = described(row(key_));
  EXPECT_EQ(release(key_, mine_, my_version, true), change_answer::lost);
  EXPECT_EQ(described(row(key_)), before);
}

// The same owner, so only the version distinguishes the grants.
TEST_P(Release, OfAnEarlierGrantToTheSameOwnerIsLost) {
  const auto first = granted(key_, mine_);
  ASSERT_EQ(release(key_, mine_, first), change_answer::done);
  granted(key_, mine_);
  EXPECT_EQ(release(key_, mine_, first), change_answer::lost);
  EXPECT_TRUE(row(key_).is_live());
}

INSTANTIATE_TEST_SUITE_P(Stores, Release, testing::ValuesIn(alone_and_beside_others(every_store())),
                         name_of);

}  // namespace
}  // namespace rowlock::tests
