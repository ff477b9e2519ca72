// Faults that end a wait, and the answer of a waiter that has made no attempt.
#include "wait/outage_test.hpp"

namespace rowlock::tests {
namespace {

class OutageWait : public OutageTest {
 protected:
  /// Once, and then it is passed: a wait that goes on is granted the key.
  void fail_once(const std::string& operation, errc kind) {
    rows_.before(operation, [kind, has_failed = std::make_shared<std::atomic<bool>>(false)] {
      if (!has_failed->exchange(true)) throw error{kind, "deploy something"};
    });
  }
  /// Of a caller that may wait for an hour; none: it was granted the key.
  std::optional<errc> fault_within_the_time(attempt& waiting, boot_clock::time_point began) {
    const auto kind = fault_of(waiting);
    EXPECT_LT(time_->now(), began + 1h);
    return kind;
  }
};

TEST_F(OutageWait, IsNotForAFirstTryThatFailsForGood) {
  for (const auto kind : {errc::rejected, errc::misuse}) {
    fail_once("acquire", kind);
    const auto began = time_->now();
    auto waiting = waiter(wait_for(1h));
    EXPECT_EQ(fault_within_the_time(waiting, began), kind);
  }
}

TEST_F(OutageWait, EndsAtALookThatFailsForGood) {
  for (const auto kind : {errc::rejected, errc::misuse}) {
    auto held = theirs();
    fail_once("watch", kind);
    const auto began = time_->now();
    const auto reads = rows_.batches("watch").size();
    auto waiting = waiter(wait_for(1h));
    rows_.await_moving(*time_, "watch", reads + 1);
    held.release();
    EXPECT_EQ(fault_within_the_time(waiting, began), kind);
  }
}

TEST_F(OutageWait, GoesOnWhileTheLoginIsRefusedOnlyIfItsPolicySaysSo) {
  is_away_ = false;
  std::atomic<int> refusals = 0;
  for (const auto* operation : {"acquire", "watch"}) {
    rows_.before(operation, [&refusals] {
      if (refusals-- > 0) throw login_refused{"the password is not there yet"};
    });
  }
  auto held = theirs();
  for (const bool outlasts : {false, true}) {
    refusals = 10;
    const auto began = time_->now();
    auto waiting = waiter({.give_up_after = 1h, .through_refused_logins = outlasts});
    if (outlasts) {
      await_that([&] { return refusals <= 0; }, [this] { time_->advance(10ms); });
      held.release();
      EXPECT_EQ(fault_within_the_time(waiting, began), std::nullopt);
    } else {
      EXPECT_EQ(fault_within_the_time(waiting, began), errc::rejected);
    }
  }
}

TEST_F(OutageWait, BehindOneWhoseQuestionHangsIsNotTakenForAKeyThatIsHeld) {
  is_away_ = true;
  gate answer;
  auto first = waiter(wait_forever());
  rows_.await("acquire", 1);
  rows_.before("acquire", [&answer] { answer.pass(); });
  rows_.await_moving(*time_, "acquire", 2);
  auto second = waiter(wait_for(2s));
  EXPECT_EQ(fault_of(second), errc::unavailable);
  answer.open();
  EXPECT_TRUE(end_of(first).acquired());
}

}  // namespace
}  // namespace rowlock::tests
