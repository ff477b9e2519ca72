// A release and the next grant in one, in each state of the row.
#include <gtest/gtest.h>

#include "conformance/locked_rows.hpp"
#include "conformance/store_test.hpp"
#include "rowlock/error.hpp"

namespace rowlock::tests {
namespace {

class Handoff : public store_test {
 protected:
  [[nodiscard]] handoff_request to_them(version granted, bool failed = false) const {
    return {.ended = {.key = key_, .owner = mine_, .version = granted, .failed = failed},
            .next = {.key = key_, .owner = theirs_, .holder = "next:1", .ttl = 1h}};
  }
  void expect_misuse(const handoff_request& request) {
    try {
      (void)rows_->handoff(request);
      FAIL() << "handed over";
    } catch (const error& thrown) {
      EXPECT_EQ(thrown.kind(), errc::misuse);
    }
  }
};
class HandoffOfALockedRow : public Handoff {};

TEST_P(Handoff, EndsOneLeaseAndGrantsTheNext) {
  const auto my_version = granted(key_, mine_);
  const auto answer = rows_->handoff(to_them(my_version));
  EXPECT_EQ(answer.ended, change_answer::done);
  ASSERT_TRUE(answer.granted);
  EXPECT_GT(*answer.granted, my_version);
  const auto after = row(key_);
  EXPECT_TRUE(after.is_live());
  EXPECT_EQ(after.version, *answer.granted);
  EXPECT_EQ(after.holder, "next:1");
  EXPECT_FALSE(after.acquired_at.empty());
  EXPECT_EQ(after.failure_count, 0);
  EXPECT_EQ(after.expiry_count, 0);
  EXPECT_EQ(renew(key_, mine_, my_version), change_answer::lost);
  EXPECT_EQ(renew(key_, theirs_, *answer.granted), change_answer::done);
  EXPECT_EQ(release(key_, theirs_, *answer.granted), change_answer::done);
}

TEST_P(Handoff, OfFailedWorkCountsTheFailure) {
  EXPECT_TRUE(rows_->handoff(to_them(granted(key_, mine_), true)).granted);
  EXPECT_EQ(row(key_).failure_count, 1);
}

TEST_P(Handoff, ByWhoDoesNotHoldTheRowIsLost) {
  EXPECT_EQ(rows_->handoff(to_them(version{1})).ended, change_answer::lost);
  EXPECT_FALSE(read(key_)) << "a missing row was inserted";
  const auto my_version = granted(key_, mine_);
  const auto before = described(row(key_));
  const auto answer = rows_->handoff(to_them(version{my_version.number + 1}));
  EXPECT_EQ(answer.ended, change_answer::lost);
  EXPECT_FALSE(answer.granted);
  EXPECT_EQ(described(row(key_)), before);
}

TEST_P(Handoff, ASecondTimeIsLostAndTheNextOneStillFindsItsGrant) {
  const auto my_version = granted(key_, mine_);
  const auto first = rows_->handoff(to_them(my_version));
  ASSERT_TRUE(first.granted);
  const auto again = rows_->handoff(to_them(my_version));
  EXPECT_EQ(again.ended, change_answer::lost);
  EXPECT_FALSE(again.granted);
  const auto attempt = acquire(key_, theirs_);
  EXPECT_EQ(attempt.status, acquire_status::granted);
  EXPECT_EQ(attempt.version, first.granted);
}

TEST_P(Handoff, OfALeaseThatRanOutAndThatNobodyTookIsMade) {
  const auto my_version = run_out(key_, mine_);
  const auto answer = rows_->handoff(to_them(my_version));
  EXPECT_EQ(answer.ended, change_answer::done);
  ASSERT_TRUE(answer.granted);
  EXPECT_TRUE(row(key_).is_live());
  EXPECT_EQ(row(key_).expiry_count, 0);
}

TEST_P(Handoff, OnAConditionIsMisuse) {
  const auto my_version = granted(key_, mine_);
  auto other_key = to_them(my_version);
  other_key.next.key = {"job", "another"};
  expect_misuse(other_key);
  auto closed = to_them(my_version);
  closed.ended.stay_closed = 1s;
  expect_misuse(closed);
  auto done = to_them(my_version);
  done.ended.done_for = 1s;
  expect_misuse(done);
  auto expected = to_them(my_version);
  expected.next.expected = my_version;
  expect_misuse(expected);
  EXPECT_EQ(row(key_).version, my_version);
}

TEST_P(HandoffOfALockedRow, IsBusyAndChangesNothing) {
  const auto rivals = bench_->open(20ms);
  const auto my_version = run_out(key_, mine_);
  locked_rows locked{*bench_, key_};
  const auto answer = rivals->handoff(to_them(my_version));
  EXPECT_EQ(answer.ended, change_answer::busy);
  EXPECT_FALSE(answer.granted);
  locked.roll_back();
  EXPECT_EQ(row(key_).version, my_version);
}

INSTANTIATE_TEST_SUITE_P(Stores, Handoff, testing::ValuesIn(every_store()), name_of);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(HandoffOfALockedRow);
INSTANTIATE_TEST_SUITE_P(Stores, HandoffOfALockedRow, testing::ValuesIn(stores_with_transactions()),
                         name_of);

}  // namespace
}  // namespace rowlock::tests
