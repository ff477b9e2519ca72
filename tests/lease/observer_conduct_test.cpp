// What an observer may do, and what it cannot disturb.
#include <gtest/gtest.h>

#include <stdexcept>

#include "lease/observed_leases.hpp"
#include "rowlock/observer.hpp"

namespace rowlock::tests {
namespace {

TEST_F(Observer, ThatThrowsIsToldTheNextEventAllTheSame) {
  observer_->then([](const auto&) { throw std::runtime_error{"an observer's own affair"}; });
  auto held = acquire("a");
  EXPECT_EQ(held.release(), release_result::released);
  observer_->await<acquired_event>();
  observer_->await<released_event>();
}

TEST_F(Observer, MayReleaseALeaseThatItIsToldIsLost) {
  auto lost = acquire("a");
  auto other = acquire("b", 1h);
  observer_->then([&](const recording_observer::event& caught) {
    if (!std::holds_alternative<lost_event>(caught)) return;
    EXPECT_EQ(lost.release(), release_result::lost);
    EXPECT_EQ(other.release(), release_result::released);
  });
  run_out_at_once();
  EXPECT_EQ(observer_->await<released_event>().token, other.token());
  EXPECT_TRUE(is_free("b"));
  locks_.reset();  // before the leases are gone
}

TEST_F(Observer, MayDestroyTheTable) {
  const lease held = acquire("a");
  gate done;
  observer_->then([&](const recording_observer::event& caught) {
    if (!std::holds_alternative<released_event>(caught)) return;
    locks_.reset();
    done.open();
  });
  acquire("b").release();
  done.pass();
  EXPECT_FALSE(held.is_valid());
  EXPECT_EQ(observer_->await<lost_event>().reason, loss_reason::closed);
}

TEST_F(Observer, ThatBlocksDelaysNoLeaseNoLossAndNoRelease) {
  gate observed;
  gate goes_on;
  observer_->then([&](const auto&) {
    observed.open();
    goes_on.pass();
  });
  const lease lost = acquire("a");
  auto other = acquire("b", 1h);
  observed.pass();
  time_->advance(10s);
  rows_.await("renew", 1);
  run_out_at_once();
  EXPECT_FALSE(lost.is_valid());
  await(lost.lost());
  EXPECT_TRUE(other.is_valid());
  EXPECT_EQ(other.release(), release_result::released);
  const lease third = acquire("c");
  EXPECT_TRUE(third.is_valid());
  EXPECT_EQ(observer_->events().size(), 1) << "it does not block";
  goes_on.open();
  locks_.reset();  // before the gates are gone
}

TEST_F(Observer, ThatBlocksForLongMissesEventsAndIsToldHowMany) {
  gate observed;
  gate goes_on;
  observer_->then([&](const auto&) {
    observed.open();
    goes_on.pass();
  });
  const lease held = *theirs_.try_acquire(key_);
  constexpr std::size_t attempts = 10'005;
  for (std::size_t i = 0; i < attempts; ++i) {
    (void)locks_->try_acquire(key_);
    if (i == 0) observed.pass();
  }
  goes_on.open();
  locks_.reset();
  EXPECT_EQ(observer_->count<refused_event>(), 10'001);
  EXPECT_EQ(observer_->missed_events(), attempts - 10'001);
}

}  // namespace
}  // namespace rowlock::tests
