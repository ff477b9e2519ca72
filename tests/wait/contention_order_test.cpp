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
  backoff_.granted(7);
  hold_for(1h);
  EXPECT_EQ(pause(0), 35ms);
  EXPECT_EQ(pause(6), 5ms);
  EXPECT_EQ(pause(7), 0ms);
  EXPECT_EQ(pause(8), 0ms);
}

TEST_F(ContentionOrder, WhoWasRefusedInItsTurnKnowsOfOneMore) {
  hold_for(1h);
  EXPECT_EQ(pause(2), 0ms);
  backoff_.refused(0, 2);
  hold_for(1h);
  EXPECT_GE(pause(0), 15ms);
  EXPECT_LT(pause(3), 10ms);
}

TEST_F(ContentionOrder, TakeATenthOfTheTimeForWhichTheKeyIsUsuallyHeld) {
  backoff_.granted(7);
  hold_for(100ms);
  EXPECT_EQ(pause(0), 10ms);
  hold_for(20ms);
  EXPECT_EQ(pause(0), 8ms);
}

}  // namespace
}  // namespace rowlock::detail
