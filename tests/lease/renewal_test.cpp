// How leases are renewed in the background.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "lease/lease_state_test.hpp"
#include "rowlock/error.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {
namespace {

class Renewal : public lease_state_test {
 protected:
  /// Returns when `renewed` has been renewed now.
  void await_renewal_of(const lease& renewed, std::chrono::milliseconds lasts = 29s) {
    await_that([&] { return renewed.valid_until() >= time_->now() + lasts; });
  }
};

TEST_F(Renewal, ALeaseIsRenewedAtAThirdOfItsTtlAndSoOutlivesIt) {
  const lease held = acquire("a");
  const auto granted_until = held.valid_until();
  for (std::size_t renewals = 1; renewals <= 6; ++renewals) {
    time_->advance(10s);
    rows_.await("renew", renewals);
    await_renewal_of(held);
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
  await_renewal_of(fast, 2s);
  EXPECT_EQ(slow.remaining(), 28s);
}

TEST_F(Renewal, GathersLeasesThatWereGrantedFarApart) {
  const lease first = acquire("first");
  time_->advance(4s);
  const lease second = acquire("second");
  time_->advance(2500ms);
  const lease third = acquire("third");  // due more than a fifth of the ttl after the first
  time_->advance(3500ms);
  await_renewal_of(first);
  await_renewal_of(second);
  EXPECT_EQ(third.remaining(), 25500ms);
  time_->advance(6500ms);
  await_renewal_of(third);
  await_renewal_of(first);
  time_->advance(10s);
  await_renewal_of(third);
  EXPECT_EQ(rows_.batches("renew"), (std::vector<std::size_t>{2, 3, 3}));
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

TEST_F(Renewal, EndsAtMostSoLongAfterTheGrantAndThenTheLeaseRunsOutAndIsLost) {
  const lease held = *locks_->try_acquire({"job", "a"}, {.renew_for = 60s});
  for (std::size_t renewals = 1; renewals <= 5; ++renewals) {
    time_->advance(10s);
    rows_.await("renew", renewals);
    await_renewal_of(held);
  }
  time_->advance(10s);
  const lease other = acquire("other", 3s);  // shows that the renewer goes on
  time_->advance(1s);
  await_renewal_of(other, 2s);
  time_->advance(17s);
  EXPECT_TRUE(held.is_valid());
  EXPECT_FALSE(held.lost().stop_requested());
  time_->advance(1s);
  EXPECT_FALSE(held.is_valid());
  await(held.lost());
}

TEST_F(Renewal, OfALeaseWithAnEndGoesOnForTheOthers) {
  const lease completion = *locks_->try_acquire({"job", "ending"}, {.renew_for = 30s});
  const lease held = acquire("a");
  for (std::size_t renewals = 1; renewals <= 4; ++renewals) {
    time_->advance(10s);
    rows_.await("renew", renewals);
    await_renewal_of(held);
  }
  EXPECT_EQ(rows_.batches("renew"), (std::vector<std::size_t>{2, 2, 1, 1}));
}

TEST_F(Renewal, ThatFailedIsNotTriedAgainAfterTheEnd) {
  const auto database = std::make_shared<gate>();
  rows_.before("renew", [this, database] {
    if (rows_.batches("renew").size() != 2) return;
    database->pass();
    throw error{errc::unavailable, "the network is down"};
  });
  const lease held = *locks_->try_acquire({"job", "a"}, {.renew_for = 35s});
  time_->advance(10s);
  await_renewal_of(held);
  const auto valid_until = held.valid_until();
  time_->advance(10s);
  rows_.await("renew", 2);
  time_->advance(16s);
  const lease other = acquire("other", 3s);  // shows that the renewer goes on
  database->open();
  for (int seconds = 0; seconds < 2; ++seconds) {
    time_->advance(1s);
    await_renewal_of(other, 2s);
  }
  EXPECT_TRUE(held.is_valid());
  EXPECT_EQ(held.valid_until(), valid_until);
}

TEST_F(Renewal, EndsForAllLeasesIfTheLockTableSaysSoUnlessOneSaysOtherwise) {
  lock_table locks{rows_, {.ttl = 30s, .margin = 1s, .renew_for = 30s, .time = time_}};
  const lease usual = *locks.try_acquire({"job", "usual"});
  const lease longer = *locks.try_acquire({"job", "longer"}, {.renew_for = 10h});
  for (std::size_t renewals = 1; renewals <= 5; ++renewals) {
    time_->advance(10s);
    rows_.await("renew", renewals);
    await_renewal_of(longer);
  }
  await(usual.lost());
  EXPECT_TRUE(longer.is_valid());
}

TEST_F(Renewal, OneFailedRenewalDoesNotEndRenewal) {
  rows_.before("renew", [this] {
    if (rows_.batches("renew").size() == 1) throw error{errc::unavailable, "the network is down"};
  });
  const lease held = acquire("a");
  time_->advance(10s);
  rows_.await("renew", 1);
  rows_.await_moving(*time_, "renew", 2);
  await_that([&] { return held.remaining() >= 25s; });
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
