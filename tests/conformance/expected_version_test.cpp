// Acquiring by compare-and-set against a version read earlier, in each state of the row.
#include "conformance/store_test.hpp"

namespace rowlock::tests {
namespace {

class AcquireExpecting : public store_test {};

TEST_P(AcquireExpecting, AVersionIsStaleOnAMissingRowAndInsertsNone) {
  EXPECT_EQ(acquire(key_, mine_, version{1}).status, acquire_status::stale);
  EXPECT_FALSE(read(key_));
}

TEST_P(AcquireExpecting, TheVersionOfAnUnownedRowIsGranted) {
  const auto seen = unowned(key_);
  const auto answer = acquire(key_, mine_, seen);
  EXPECT_EQ(answer.status, acquire_status::granted);
  EXPECT_GT(answer.version, seen);
  EXPECT_EQ(answer.version, row(key_).version);
  EXPECT_TRUE(row(key_).is_live());
}

TEST_P(AcquireExpecting, AnotherVersionIsStaleAndToldTheVersion) {
  const auto current = unowned(key_);
  for (const std::int64_t off : {-1, 1}) {
    const auto answer = acquire(key_, mine_, version{current.number + off});
    EXPECT_EQ(answer.status, acquire_status::stale);
    EXPECT_EQ(answer.version, current);
  }
  EXPECT_FALSE(row(key_).owned);
  EXPECT_EQ(row(key_).version, current);
}

TEST_P(AcquireExpecting, AskedAgainByTheOwnerAdoptsTheGrant) {
  const auto seen = unowned(key_);
  const auto before = acquire(key_, mine_, seen).version;
  const auto answer = acquire(key_, mine_, seen);
  EXPECT_EQ(answer.status, acquire_status::granted);
  EXPECT_EQ(answer.version, before);
  EXPECT_EQ(row(key_).version, before);
}

TEST_P(AcquireExpecting, TheVersionOfAnothersLiveLeaseIsHeld) {
  const auto their_version = granted(key_, theirs_);
  const auto before = described(row(key_));
  const auto answer = acquire(key_, mine_, their_version);
  EXPECT_EQ(answer.status, acquire_status::held);
  EXPECT_EQ(answer.holder, "host:1");
  EXPECT_GT(answer.remaining, 30min);
  EXPECT_EQ(described(row(key_)), before);
}

TEST_P(AcquireExpecting, AnotherVersionIsStaleOnAnothersLiveLease) {
  const auto seen = unowned(key_);
  const auto their_version = granted(key_, theirs_);
  const auto answer = acquire(key_, mine_, seen);
  EXPECT_EQ(answer.status, acquire_status::stale);
  EXPECT_EQ(answer.version, their_version);
}

// Its holder may still be about to write with that version.
TEST_P(AcquireExpecting, TheVersionOfAnothersLeaseThatRanOutIsStale) {
  const auto their_version = run_out(key_, theirs_);
  const auto before = described(row(key_));
  EXPECT_EQ(acquire(key_, mine_, their_version).status, acquire_status::stale);
  EXPECT_EQ(described(row(key_)), before);
}

TEST_P(AcquireExpecting, TheVersionOfTheOwnersLeaseThatRanOutIsStale) {
  const auto my_version = run_out(key_, mine_);
  const auto before = described(row(key_));
  EXPECT_EQ(acquire(key_, mine_, my_version).status, acquire_status::stale);
  EXPECT_EQ(described(row(key_)), before);
}

TEST_P(AcquireExpecting, TheVersionThatPrepareMadeOfALeaseThatRanOutIsGranted) {
  run_out(key_, theirs_);
  const auto seen = unowned(key_);
  EXPECT_EQ(acquire(key_, mine_, seen).status, acquire_status::granted);
  EXPECT_EQ(row(key_).expiry_count, 1);
}

TEST_P(AcquireExpecting, AVersionIsStaleOnceSomebodyHadTheKeyInBetween) {
  const auto seen = unowned(key_);
  const auto their_version = granted(key_, theirs_);
  ASSERT_EQ(release(key_, theirs_, their_version), change_answer::done);
  EXPECT_EQ(acquire(key_, mine_, seen).status, acquire_status::stale);
  EXPECT_EQ(acquire(key_, mine_, their_version).status, acquire_status::stale);
  EXPECT_FALSE(row(key_).owned);
}

TEST_P(AcquireExpecting, OneVersionIsGrantedToOneOwnerOnly) {
  const auto seen = unowned(key_);
  const auto my_version = acquire(key_, mine_, seen).version.value();
  ASSERT_EQ(release(key_, mine_, my_version), change_answer::done);
  EXPECT_EQ(acquire(key_, theirs_, seen).status, acquire_status::stale);
}

INSTANTIATE_TEST_SUITE_P(Stores, AcquireExpecting,
                         testing::ValuesIn(alone_and_beside_others(every_store())), name_of);

}  // namespace
}  // namespace rowlock::tests
