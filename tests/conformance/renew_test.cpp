// Renewing, in each state of the row.
#include "conformance/store_test.hpp"

namespace rowlock::tests {
namespace {

class Renew : public store_test {};

TEST_P(Renew, OfAMissingRowIsLostAndInsertsNone) {
  EXPECT_EQ(renew(key_, mine_, version{1}), change_answer::lost);
  EXPECT_FALSE(read(key_));
}

TEST_P(Renew, OfAReleasedLeaseIsLost) {
  const auto my_version = granted(key_, mine_);
  ASSERT_EQ(release(key_, mine_, my_version), change_answer::done);
  const auto before = described(row(key_));
  EXPECT_EQ(renew(key_, mine_, my_version), change_answer::lost);
  EXPECT_EQ(renew(key_, mine_, row(key_).version), change_answer::lost);
  EXPECT_EQ(described(row(key_)), before);
}

TEST_P(Renew, CountsTheTtlAnewFromNow) {
  const auto my_version = granted(key_, mine_, 1h);
  EXPECT_EQ(renew(key_, mine_, my_version, 3h), change_answer::done);
  EXPECT_GT(row(key_).remaining, 2h);
  EXPECT_LE(row(key_).remaining, 3h);
  EXPECT_EQ(renew(key_, mine_, my_version, 5min), change_answer::done);
  EXPECT_LE(row(key_).remaining, 5min);
  EXPECT_GT(row(key_).remaining, 0h);
}

TEST_P(Renew, ChangesNothingButTheDeadline) {
  const auto my_version = granted(key_, mine_);
  const auto before = described(row(key_));
  let_time_pass_after(row(key_).acquired_at);
  ASSERT_EQ(renew(key_, mine_, my_version), change_answer::done);
  EXPECT_EQ(described(row(key_)), before);
}

TEST_P(Renew, AtAnotherVersionIsLost) {
  const auto my_version = granted(key_, mine_, 1h);
  EXPECT_EQ(renew(key_, mine_, version{my_version.number - 1}, 3h), change_answer::lost);
  EXPECT_EQ(renew(key_, mine_, version{my_version.number + 1}, 3h), change_answer::lost);
  EXPECT_LE(row(key_).remaining, 1h);
}

TEST_P(Renew, ByAnotherOwnerIsLost) {
  const auto their_version = granted(key_, theirs_, 1h);
  EXPECT_EQ(renew(key_, mine_, their_version, 3h), change_answer::lost);
  EXPECT_LE(row(key_).remaining, 1h);
}

TEST_P(Renew, RevivesALeaseThatRanOutAndThatNobodyTook) {
  const auto my_version = run_out(key_, mine_);
  ASSERT_FALSE(row(key_).is_live());
  EXPECT_EQ(renew(key_, mine_, my_version), change_answer::done);
  EXPECT_TRUE(row(key_).is_live());
  EXPECT_EQ(row(key_).version, my_version);
  EXPECT_EQ(row(key_).expiry_count, 0);
}

TEST_P(Renew, OfAnothersLeaseThatRanOutIsLost) {
  const auto their_version = run_out(key_, theirs_);
  EXPECT_EQ(renew(key_, mine_, their_version), change_answer::lost);
  EXPECT_FALSE(row(key_).is_live());
}

TEST_P(Renew, OfALeaseThatWasTakenOverIsLost) {
  const auto my_version = run_out(key_, mine_);
  granted(key_, theirs_, 1h);
  EXPECT_EQ(renew(key_, mine_, my_version, 3h), change_answer::lost);
  EXPECT_LE(row(key_).remaining, 1h);
}

// The same owner, so only the version distinguishes the grants.
TEST_P(Renew, OfAnEarlierGrantToTheSameOwnerIsLost) {
  const auto first = granted(key_, mine_);
  ASSERT_EQ(release(key_, mine_, first), change_answer::done);
  granted(key_, mine_, 1h);
  EXPECT_EQ(renew(key_, mine_, first, 3h), change_answer::lost);
  EXPECT_LE(row(key_).remaining, 1h);
}

INSTANTIATE_TEST_SUITE_P(Stores, Renew, testing::ValuesIn(alone_and_beside_others(every_store())),
                         name_of);

}  // namespace
}  // namespace rowlock::tests
