// Acquiring, in each state of the row.
#include "conformance/locked_rows.hpp"
#include "conformance/store_test.hpp"

namespace rowlock::tests {
namespace {

class Acquire : public store_test {};

TEST_P(Acquire, InsertsAMissingRow) {
  const auto answer = acquire(key_, mine_);
  EXPECT_EQ(answer.status, acquire_status::granted);
  const auto inserted = row(key_);
  EXPECT_EQ(inserted.key, key_);
  EXPECT_EQ(answer.version, inserted.version);
  EXPECT_GT(inserted.version.number, 0);
  EXPECT_TRUE(inserted.is_live());
  EXPECT_EQ(inserted.holder, "host:1");
  EXPECT_EQ(inserted.acquired_at.substr(0, 2), "20");
  EXPECT_EQ(inserted.failure_count, 0);
  EXPECT_EQ(inserted.expiry_count, 0);
}

TEST_P(Acquire, IsGrantedOnAnUnownedRowAtANewVersion) {
  const auto before = unowned(key_);
  const auto answer = acquire(key_, mine_);
  EXPECT_EQ(answer.status, acquire_status::granted);
  const auto after = row(key_);
  EXPECT_EQ(answer.version, after.version);
  EXPECT_GT(after.version, before);
  EXPECT_TRUE(after.is_live());
  EXPECT_NE(after.acquired_at, "");
  EXPECT_EQ(after.expiry_count, 0);
}

TEST_P(Acquire, AskedAgainByTheOwnerAdoptsTheGrantAtTheSameVersion) {
  const auto before = granted(key_, mine_);
  const auto since = row(key_).acquired_at;
  let_time_pass_after(since);
  const auto answer = acquire(key_, mine_);
  EXPECT_EQ(answer.status, acquire_status::granted);
  EXPECT_EQ(answer.version, before);
  EXPECT_EQ(row(key_).version, before);
  EXPECT_EQ(row(key_).acquired_at, since);
  EXPECT_EQ(row(key_).expiry_count, 0);
}

// The holder counts its deadline from its last request, so the row has to as well.
TEST_P(Acquire, AskedAgainByTheOwnerCountsTheTtlAnew) {
  granted(key_, mine_, 1h);
  ASSERT_EQ(acquire(key_, mine_, {}, 3h).status, acquire_status::granted);
  EXPECT_GT(row(key_).remaining, 2h);
}

TEST_P(Acquire, IsRefusedWhileAnotherOwnersLeaseIsLive) {
  const auto their_version = granted(key_, theirs_, 1h);
  const auto answer = acquire(key_, mine_);
  EXPECT_EQ(answer.status, acquire_status::held);
  EXPECT_EQ(answer.version, their_version);
  EXPECT_EQ(answer.holder, "host:1");
  EXPECT_GT(answer.remaining, 30min);
  EXPECT_LE(answer.remaining, 1h);
}

TEST_P(Acquire, RefusedLeavesTheRowAsItWas) {
  granted(key_, theirs_);
  const auto before = described(row(key_));
  ASSERT_EQ(acquire(key_, mine_).status, acquire_status::held);
  EXPECT_EQ(described(row(key_)), before);
}

TEST_P(Acquire, OfTheOwnersLeaseThatRanOutIsGrantedAtANewVersion) {
  const auto before = run_out(key_, mine_);
  const auto answer = acquire(key_, mine_);
  EXPECT_EQ(answer.status, acquire_status::granted);
  EXPECT_GT(answer.version, before);
  EXPECT_EQ(answer.version, row(key_).version);
  EXPECT_TRUE(row(key_).is_live());
  EXPECT_EQ(row(key_).expiry_count, 0);
}

TEST_P(Acquire, TakesOverALeaseThatRanOutAndCountsIt) {
  const auto before = run_out(key_, theirs_);
  const auto answer = acquire(key_, mine_);
  EXPECT_EQ(answer.status, acquire_status::granted);
  EXPECT_TRUE(answer.took_over_expired);
  EXPECT_GT(answer.version, before);
  EXPECT_EQ(answer.version, row(key_).version);
  EXPECT_TRUE(row(key_).is_live());
  EXPECT_EQ(row(key_).expiry_count, 1);
  EXPECT_EQ(row(key_).failure_count, 0);
}

TEST_P(Acquire, SaysWhoseLeaseItTookOver) {
  const acquire_request theirs{.key = key_, .owner = theirs_, .holder = "émile:2", .ttl = 1h};
  ASSERT_EQ(rows_->acquire(std::array{theirs}).at(0).status, acquire_status::granted);
  bench_->run_out(key_);
  const auto answer = acquire(key_, mine_);
  EXPECT_EQ(answer.holder, "émile:2");
  ASSERT_TRUE(answer.remaining);
  EXPECT_LE(*answer.remaining, 0us);
}

TEST_P(Acquire, TakesOverNothingWhereNobodyElsesLeaseRanOut) {
  EXPECT_FALSE(acquire(key_, mine_).took_over_expired) << "missing";
  EXPECT_FALSE(acquire(key_, theirs_).took_over_expired) << "held";
  EXPECT_FALSE(acquire(key_, mine_).took_over_expired) << "mine";
  bench_->run_out(key_);
  EXPECT_FALSE(acquire(key_, mine_).took_over_expired) << "mine, run out";
  unowned(other_key_);
  EXPECT_FALSE(acquire(other_key_, mine_).took_over_expired) << "unowned";
}

TEST_P(Acquire, WritesTheNewHolderAndTimeAtATakeover) {
  run_out(key_, theirs_);
  const auto since = row(key_).acquired_at;
  let_time_pass_after(since);
  const acquire_request request{.key = key_, .owner = mine_, .holder = "émile:2", .ttl = 1h};
  ASSERT_EQ(rows_->acquire(std::array{request}).at(0).status, acquire_status::granted);
  EXPECT_EQ(row(key_).holder, "émile:2");
  EXPECT_GT(row(key_).acquired_at, since);
}

TEST_P(Acquire, LastsForItsTtlByTheClockOfTheDatabase) {
  for (const std::chrono::microseconds ttl : {5min, 24 * 60min}) {
    const lock_key missing{"missing", std::to_string(ttl.count())};
    const lock_key existing{"existing", std::to_string(ttl.count())};
    unowned(existing);
    for (const auto& key : {missing, existing}) {
      granted(key, mine_, ttl);
      EXPECT_LE(row(key).remaining, ttl) << key;
      EXPECT_GT(row(key).remaining, ttl - 2min) << key;
    }
  }
}

TEST_P(Acquire, OfAnotherKeyIsNotInTheWay) {
  granted(key_, theirs_);
  EXPECT_EQ(acquire(other_key_, mine_).status, acquire_status::granted);
  EXPECT_EQ(acquire({"order", key_.source_id}, mine_).status, acquire_status::granted);
}

TEST_P(Acquire, IsSeenByEveryStoreOnTheTable) {
  granted(key_, theirs_);
  const auto another = bench_->open();
  EXPECT_EQ(acquire(*another, key_, mine_).status, acquire_status::held);
  EXPECT_EQ(acquire(*another, key_, theirs_).status, acquire_status::granted);
}

INSTANTIATE_TEST_SUITE_P(Stores, Acquire, testing::ValuesIn(alone_and_beside_others(every_store())),
                         name_of);

class AcquireBesideTransactions : public store_test {};

TEST_P(AcquireBesideTransactions, OfTheSameKeyInAnotherTableIsNotInTheWay) {
  const auto another = GetParam().make();
  const locked_rows inserted{*another, {key_, other_key_}};
  EXPECT_EQ(acquire(key_, mine_).status, acquire_status::granted);
  EXPECT_TRUE(prepare(other_key_));
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(AcquireBesideTransactions);
INSTANTIATE_TEST_SUITE_P(Stores, AcquireBesideTransactions,
                         testing::ValuesIn(alone_and_beside_others(stores_with_transactions())),
                         name_of);

}  // namespace
}  // namespace rowlock::tests
