// How leases are renewed in the background.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/kept_lease_test.hpp"
#include "rowlock/error.hpp"

namespace rowlock::tests {
namespace {

class Renewal : public kept_lease_test {};

TEST_F(Renewal, ALeaseIsRenewedAtAThirdOfItsTtlAndSoOutlivesIt) {
  const lease held = acquire("a");
  const auto granted_until = held.valid_until();
  for (std::size_t renewals = 1; renewals <= 6; ++renewals) {
    time_->advance(10s);
    rows_.await("renew", renewals);
    while (held.valid_until() < time_->now() + 29s) std::this_thread::yield();
  }
  EXPECT_TRUE(held.is_valid());
  EXPECT_EQ(held.valid_until(), granted_until + 60s);
  EXPECT_FALSE(is_free("a"));
}

TEST_F(Renewal, ARenewalMovesNoVersion) {
  const lease held = acquire("a");
  time_->advance(10s);
  rows_.await("renew", 1);
  EXPECT_EQ(rows_.rows().list().front().version, held.token());
}

TEST_F(Renewal, LeasesDueTogetherShareOneStatement) {
  std::vector<lease> held;
  for (int i = 0; i < 50; ++i) held.push_back(acquire(std::to_string(i)));
  time_->advance(10s);
  rows_.await("renew", 1);
  EXPECT_EQ(rows_.batches("renew"), std::vector<std::size_t>{50});
}

TEST_F(Renewal, EachLeaseIsDueAtAThirdOfItsOwnTtl) {
  const lease slow = acquire("slow");
  const lease fast = acquire("fast", 3s);
  time_->advance(1s);
  rows_.await("renew", 1);
  EXPECT_EQ(rows_.batches("renew"), std::vector<std::size_t>{1});
  while (fast.valid_until() < time_->now() + 2s) std::this_thread::yield();
  EXPECT_EQ(slow.remaining(), 28s);
}

TEST_F(Renewal, WithoutRenewalALeaseEndsAtItsDeadline) {
  lock_table locks{rows_, {.ttl = 30s, .margin = 1s, .renew = false, .time = time_}};
  const lease held = *locks.try_acquire({"job", "a"});
  EXPECT_EQ(held.remaining(), 29s);
  time_->advance(28s);
  EXPECT_TRUE(held.is_valid());
  time_->advance(1s);
  EXPECT_FALSE(held.is_valid());
  await(held.lost());
  EXPECT_TRUE(rows_.batches("renew").empty());
}

TEST_F(Renewal, OneFailedRenewalDoesNotEndRenewal) {
  rows_.before("renew", [this] {
    if (rows_.batches("renew").size() == 1) throw error{errc::unavailable, "the network is down"};
  });
  const lease held = acquire("a");
  time_->advance(10s);
  rows_.await("renew", 1);
  rows_.await_moving(*time_, "renew", 2);
  while (held.remaining() < 25s) std::this_thread::yield();
  EXPECT_TRUE(held.is_valid());
}

TEST_F(Renewal, ARenewalThatIsAnsweredAfterTheDeadlineChangesNothing) {
  const auto database = std::make_shared<gate>();
  rows_.after("renew", [database] { database->pass(); });
  const lease held = acquire("a");
  time_->advance(10s);
  rows_.await("renew", 1);
  time_->advance(19s);
  await(held.lost());
  database->open();
  locks_.reset();
  EXPECT_FALSE(held.is_valid());
  EXPECT_EQ(held.remaining(), 0s);
}

TEST_F(Renewal, AReleasedLeaseIsNeverRenewed) {
  lease held = acquire("a");
  EXPECT_EQ(held.release(), release_result::released);
  EXPECT_EQ(held.release(), release_result::lost);
  time_->advance(10s);
  locks_.reset();
  EXPECT_TRUE(rows_.batches("renew").empty());
  EXPECT_EQ(rows_.batches("release").size(), 1U);
}

}  // namespace
}  // namespace rowlock::tests
