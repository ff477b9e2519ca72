// Rows that stay closed for a while after their release.
#include "conformance/locked_rows.hpp"
#include "conformance/store_test.hpp"

namespace rowlock::tests {
namespace {

class Closed : public store_test {
 protected:
  change_answer release_closed(const lock_key& key, const owner_id& owner, version granted) {
    const release_request request{
        .key = key, .owner = owner, .version = granted, .stay_closed = 1h};
    return rows_->release(std::array{request}).at(0);
  }

  /// Makes the row, closed; its version.
  version closed(const lock_key& key) {
    EXPECT_EQ(release_closed(key, theirs_, granted(key, theirs_)), change_answer::done);
    return row(key).version;
  }
};

TEST_P(Closed, IsUnownedButNotFree) {
  const auto held = granted(key_, theirs_);
  ASSERT_EQ(release_closed(key_, theirs_, held), change_answer::done);
  const auto after = row(key_);
  EXPECT_FALSE(after.owned);
  EXPECT_TRUE(after.is_live());
  EXPECT_GT(after.version, held);
  EXPECT_EQ(after.holder, "host:1");
  EXPECT_EQ(after.acquired_at, "");
  EXPECT_LE(after.remaining.value(), 1h);
  EXPECT_GT(after.remaining.value(), 59min);
}

TEST_P(Closed, IsHeldForEverybody) {
  const auto current = closed(key_);
  const auto before = described(row(key_));
  for (const auto& owner : {mine_, theirs_}) {
    const auto answer = acquire(key_, owner);
    EXPECT_EQ(answer.status, acquire_status::held);
    EXPECT_EQ(answer.holder, "host:1");
    EXPECT_GT(answer.remaining.value(), 59min);
    EXPECT_EQ(answer.version, current);
  }
  EXPECT_EQ(described(row(key_)), before);
}

TEST_P(Closed, IsHeldAtItsVersionAndStaleAtAnother) {
  const auto current = closed(key_);
  EXPECT_EQ(acquire(key_, mine_, current).status, acquire_status::held);
  EXPECT_EQ(acquire(key_, mine_, version{current.number - 1}).status, acquire_status::stale);
}

TEST_P(Closed, OpensWhenItsTimeIsOverAndNothingHasRunOut) {
  const auto current = closed(key_);
  bench_->run_out(key_);
  EXPECT_FALSE(row(key_).is_live());
  EXPECT_EQ(row(key_).holder, "");
  EXPECT_FALSE(row(key_).remaining);
  const auto answer = acquire(key_, mine_, current);
  EXPECT_EQ(answer.status, acquire_status::granted);
  EXPECT_FALSE(answer.took_over_expired);
  EXPECT_EQ(row(key_).expiry_count, 0);
}

TEST_P(Closed, IsLostToItsLastHolder) {
  const auto held = granted(key_, mine_);
  ASSERT_EQ(release_closed(key_, mine_, held), change_answer::done);
  const auto current = row(key_).version;
  for (const auto at : {held, current}) {
    EXPECT_EQ(renew(key_, mine_, at), change_answer::lost);
    EXPECT_EQ(release(key_, mine_, at), change_answer::lost);
  }
  EXPECT_EQ(row(key_).version, current);
}

TEST_P(Closed, IsPreparedAsItIs) {
  closed(key_);
  const auto before = described(row(key_));
  EXPECT_EQ(described(prepare(key_).value()), before);
  EXPECT_EQ(described(row(key_)), before);
}

TEST_P(Closed, IsListed) {
  closed(key_);
  granted(other_key_, mine_);
  const auto listed = rows_->list();
  ASSERT_EQ(listed.size(), 2U);
  EXPECT_EQ(listed[0].key, key_);
  EXPECT_FALSE(listed[0].owned);
  EXPECT_TRUE(listed[0].is_live());
}

INSTANTIATE_TEST_SUITE_P(Stores, Closed, testing::ValuesIn(alone_and_beside_others(every_store())),
                         name_of);

class ClosedToTransactions : public Closed {};

TEST_P(ClosedToTransactions, CanBeLockedByNoTransaction) {
  closed(key_);
  open_transaction locking{*bench_};
  const auto locked = locking->lock_rows(key_, no_wait());
  ASSERT_FALSE(locked.acquired());
  EXPECT_EQ(locked.refusal().reason, refusal_reason::held);
  EXPECT_EQ(locked.refusal().holder, "host:1");
  EXPECT_GT(locked.refusal().remaining.value(), 59min);
}

TEST_P(ClosedToTransactions, CanBeReadOrCommittedAgainstByNoTransaction) {
  const auto current = closed(key_);
  {
    open_transaction reading{*bench_};
    const auto read = reading->read_version(key_);
    ASSERT_FALSE(read.acquired());
    EXPECT_EQ(read.refusal().reason, refusal_reason::held);
  }
  open_transaction committing{*bench_};
  EXPECT_EQ(committing->try_commit(key_, current), commit_result::stale);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ClosedToTransactions);
INSTANTIATE_TEST_SUITE_P(Stores, ClosedToTransactions,
                         testing::ValuesIn(alone_and_beside_others(stores_with_transactions())),
                         name_of);

}  // namespace
}  // namespace rowlock::tests
