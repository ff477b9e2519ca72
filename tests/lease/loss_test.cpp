// A lease that is lost, and the notification of its holder.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stop_token>

#include "lease/lease_state.hpp"
#include "lease/lease_state_test.hpp"
#include "rowlock/error.hpp"
#include "rowlock/fence.hpp"

namespace rowlock::tests {
namespace {

class Loss : public lease_state_test {};

TEST_F(Loss, LossIsToldAtTheDeadlineWhileARenewalHangs) {
  const auto database = std::make_shared<gate>();
  rows_.before("renew", [database] { database->pass(); });
  const lease held = acquire("a");
  time_->advance(10s);
  rows_.await("renew", 1);
  time_->advance(19s);
  EXPECT_FALSE(held.is_valid());
  await(held.lost());
  database->open();
}

TEST_F(Loss, ALeaseThatIsTakenOverIsLostAtItsNextRenewal) {
  // A database clock of its own, so that the row runs out long before the holder's deadline.
  const auto database_time = std::make_shared<manual_time>();
  hooked_store rows{database_time};
  lock_table locks{rows, {.ttl = 30s, .margin = 1s, .time = time_}};
  const lease held = *locks.try_acquire({"job", "a"});
  database_time->advance(31s);
  lock_table rivals{rows, {.ttl = 30s, .renew = false, .time = time_}};
  const lease taken = *rivals.try_acquire({"job", "a"});
  EXPECT_GT(taken.token(), held.token());

  time_->advance(10s);
  await(held.lost());
  EXPECT_FALSE(held.is_valid());
  EXPECT_TRUE(taken.is_valid());
}

TEST_F(Loss, ALostLeaseStaysLostAndIsNeitherRenewedNorReleased) {
  rows_.before("renew", [] { throw error{errc::unavailable, "the network is down"}; });
  lease held = acquire("a");
  time_->advance(29s);
  await(held.lost());
  const auto renewals = rows_.batches("renew").size();
  rows_.before("renew", {});
  time_->advance(10s);
  EXPECT_EQ(held.release(), release_result::lost);
  locks_.reset();
  EXPECT_LE(rows_.batches("renew").size(), renewals + 1);  // one may have been under way
  EXPECT_TRUE(rows_.batches("release").empty());
  EXPECT_FALSE(held.is_valid());
}

TEST_F(Loss, ACallbackOfALossMayReleaseAndDestroy) {
  std::optional<lease> held = acquire("a");
  gate done;
  const std::stop_callback on_loss{held->lost(), [&] {
                                     EXPECT_EQ(held->release(), release_result::lost);
                                     held.reset();
                                     locks_.reset();
                                     done.open();
                                   }};
  rows_.before("renew", [] { throw error{errc::unavailable, "the network is down"}; });
  time_->advance(29s);
  done.pass();
}

TEST_F(Loss, ASlowCallbackDelaysNoOtherLease) {
  gate callback;
  gate called;
  const lease slow = acquire("slow");
  const lease other = acquire("other", 40s);
  const std::stop_callback on_loss{slow.lost(), [&] {
                                     called.open();
                                     callback.pass();
                                   }};
  rows_.before("renew", [] { throw error{errc::unavailable, "the network is down"}; });
  time_->advance(29s);
  called.pass();
  EXPECT_TRUE(other.is_valid());
  time_->advance(10s);
  EXPECT_FALSE(other.is_valid());
  callback.open();
  await(other.lost());
}

TEST_F(Loss, IsNotLookedForByAFenceThatDoesNotSeeTheGrant) {
  const lease held = acquire("a");
  EXPECT_THROW(detail::throw_not_proved(held, detail::fence_try::unseen), lease_lost);
  EXPECT_TRUE(rows_.batches("read").empty());
  EXPECT_THROW(detail::throw_not_proved(held, detail::fence_try::lost), lease_lost);
  EXPECT_EQ(rows_.batches("read").size(), 1);
}

TEST_F(Loss, IsNotProvedByARowThatIsOlderThanTheGrant) {
  const detail::lease_request wanted{
      .request = {.key = {"job", "a"}, .owner = make_owner_id(), .holder = "", .ttl = 30s}};
  const detail::lease_state granted{wanted, version{5}, time_->now()};
  const auto seen_as = [&](std::int64_t number) {
    row_state row;
    row.version = version{number};
    row.owned = true;
    return detail::judge(row, granted);
  };
  EXPECT_EQ(seen_as(4), detail::row_verdict::ours);
  EXPECT_EQ(seen_as(6), detail::row_verdict::lost);
}

}  // namespace
}  // namespace rowlock::tests
