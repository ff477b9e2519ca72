// Work that a row remembers as done.
#include "conformance/store_test.hpp"

namespace rowlock::tests {
namespace {

class Done : public store_test {
 protected:
  acquire_answer acquire_unless_done(const lock_key& key, const owner_id& owner,
                                     std::optional<version> expected = {}) {
    const acquire_request request{.key = key,
                                  .owner = owner,
                                  .holder = "host:1",
                                  .ttl = 1h,
                                  .expected = expected,
                                  .unless_done = true};
    return rows_->acquire(std::array{request}).at(0);
  }

  change_answer release_as_done(const lock_key& key, const owner_id& owner, version granted,
                                std::chrono::microseconds keep_for = 1h) {
    const release_request request{
        .key = key, .owner = owner, .version = granted, .done_for = keep_for};
    return rows_->release(std::array{request}).at(0);
  }

  /// Makes the row, done; the version under which it was.
  version done(const lock_key& key) {
    const auto by = granted(key, theirs_);
    EXPECT_EQ(release_as_done(key, theirs_, by), change_answer::done);
    return by;
  }
};

TEST_P(Done, IsRememberedWithWhenAndByWhichGrant) {
  const auto by = granted(key_, theirs_);
  const auto began = row(key_).acquired_at;
  ASSERT_EQ(release_as_done(key_, theirs_, by, 30min), change_answer::done);
  const auto after = row(key_);
  EXPECT_FALSE(after.owned);
  EXPECT_GT(after.version, by);
  ASSERT_TRUE(after.done);
  EXPECT_EQ(after.done->by, by);
  EXPECT_GE(after.done->at, began);
  EXPECT_EQ(after.done->at.size(), began.size());
  EXPECT_LE(after.done->remaining, 30min);
  EXPECT_GT(after.done->remaining, 29min);
}

TEST_P(Done, IsToldToOneWhoWouldDoItAgain) {
  const auto by = done(key_);
  const auto before = described(row(key_));
  const auto answer = acquire_unless_done(key_, mine_);
  EXPECT_EQ(answer.status, acquire_status::done);
  ASSERT_TRUE(answer.done);
  EXPECT_EQ(answer.done->by, by);
  EXPECT_EQ(answer.done->at, row(key_).done->at);
  EXPECT_GT(answer.done->remaining, 59min);
  EXPECT_EQ(described(row(key_)), before);
}

TEST_P(Done, MakesNoDifferenceToOthers) {
  done(key_);
  EXPECT_EQ(acquire(key_, mine_).status, acquire_status::granted);
  EXPECT_TRUE(row(key_).done);
}

TEST_P(Done, IsToldEvenWhileSomebodyHoldsTheKey) {
  done(key_);
  granted(key_, theirs_);
  EXPECT_EQ(acquire_unless_done(key_, mine_).status, acquire_status::done);
}

TEST_P(Done, IsNotToldToTheOneWhoHoldsTheKey) {
  done(key_);
  const auto held = granted(key_, mine_);
  const auto again = acquire_unless_done(key_, mine_);
  EXPECT_EQ(again.status, acquire_status::granted);
  EXPECT_EQ(again.version, held);
}

TEST_P(Done, IsForgottenWhenItsTimeIsOver) {
  done(key_);
  bench_->let_done_lapse(key_);
  EXPECT_FALSE(row(key_).done);
  EXPECT_EQ(acquire_unless_done(key_, mine_).status, acquire_status::granted);
}

TEST_P(Done, IsNotWhatWasReleasedOtherwise) {
  ASSERT_EQ(release(key_, mine_, granted(key_, mine_)), change_answer::done);
  EXPECT_FALSE(row(key_).done);
  EXPECT_EQ(acquire_unless_done(key_, mine_).status, acquire_status::granted);
}

TEST_P(Done, IsNotWhatNobodyHasDone) {
  EXPECT_EQ(acquire_unless_done(key_, mine_).status, acquire_status::granted);
  EXPECT_EQ(acquire_unless_done(key_, theirs_).status, acquire_status::held);
}

TEST_P(Done, IsNotWrittenByOneWhoIsNoHolder) {
  const auto old = run_out(key_, mine_);
  granted(key_, theirs_);
  EXPECT_EQ(release_as_done(key_, mine_, old), change_answer::lost);
  EXPECT_FALSE(row(key_).done);
}

TEST_P(Done, OutlastsARefusalAtAnotherVersion) {
  done(key_);
  const auto current = row(key_).version;
  EXPECT_EQ(acquire_unless_done(key_, mine_, version{current.number - 1}).status,
            acquire_status::stale);
  EXPECT_EQ(acquire_unless_done(key_, mine_, current).status, acquire_status::done);
}

INSTANTIATE_TEST_SUITE_P(Stores, Done, testing::ValuesIn(alone_and_beside_others(every_store())),
                         name_of);

}  // namespace
}  // namespace rowlock::tests
