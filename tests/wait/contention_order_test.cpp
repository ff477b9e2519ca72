// When a process tries for a contended key, by the notifications that it has received.
#include <gtest/gtest.h>

#include <chrono>

#include "wait/contention_backoff.hpp"

namespace rowlock::detail {
namespace {

using namespace std::chrono_literals;

class ContentionOrder : public testing::Test {
 protected:
  void hold_for(boot_clock::duration length) {
    backoff_.taken(now_, {.lease = 1h, .watched_for = 1h});
    now_ += length;
    backoff_.released(now_);
  }
  /// After the release, of a waiter that has let so many go first.
  [[nodiscard]] boot_clock::duration pause(unsigned turns) const {
    return backoff_.try_after(turns) - now_;
  }

  boot_clock::time_point now_{1h};
  contention_backoff backoff_;
};

TEST_F(ContentionOrder, OfOneThatHadToLetOthersGoFirstComeLaterTheNextTime) {
  backoff_.granted(7, 5ms);
  hold_for(1h);
  EXPECT_EQ(pause(0), 35ms);
  EXPECT_EQ(pause(6), 5ms);
  EXPECT_EQ(pause(7), 0ms);
  EXPECT_EQ(pause(8), 0ms);
}

// However short the hold: they are notified only when a try has been granted.
TEST_F(ContentionOrder, LeaveEachContenderTheTimeThatATryTakes) {
  for (int i = 0; i < 50; ++i) backoff_.granted(4, 2ms);
  hold_for(1ms);
  EXPECT_NEAR(std::chrono::duration<double>{pause(0)}.count(), 0.008, 0.0001);
  EXPECT_NEAR(std::chrono::duration<double>{pause(3)}.count(), 0.002, 0.0001);
}

TEST_F(ContentionOrder, TakeATenthOfASecondAtMost) {
  for (int i = 0; i < 50; ++i) backoff_.granted(50, 1h);
  hold_for(1h);
  EXPECT_EQ(pause(0), 100ms);
  EXPECT_EQ(pause(25), 50ms);
}

TEST_F(ContentionOrder, WhoWasRefusedInItsTurnKnowsOfOneMore) {
  hold_for(1h);
  EXPECT_EQ(pause(2), 0ms);
  backoff_.refused(0, 2);
  hold_for(1h);
  EXPECT_GE(pause(0), 15ms);
  EXPECT_LT(pause(3), 10ms);
}

}  // namespace
}  // namespace rowlock::detail
