// Warnings before a deadline.
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lease/lease_state_test.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {
namespace {

class Risk : public lease_state_test {
 protected:
  auto recording() {
    return [this](bool at_risk) {
      const std::scoped_lock lock{mutex_};
      told_.push_back(at_risk);
    };
  }
  [[nodiscard]] std::vector<bool> told() {
    const std::scoped_lock lock{mutex_};
    return told_;
  }
  void await_told(const std::vector<bool>& expected) {
    await_that([&] { return told() == expected; });
  }
  void let_renewals_fail() {
    rows_.before("renew", [] { throw error{errc::unavailable, "away"}; });
  }

  gate others_;

 private:
  std::mutex mutex_;
  std::vector<bool> told_;
};

TEST_F(Risk, IsToldThatLongBeforeTheDeadlineAndBeforeTheLoss) {
  const lease held = acquire("a");
  std::optional<std::vector<bool>> told_at_loss;
  gate was_lost;
  const std::stop_callback at_loss{held.lost(), [&] {
                                     told_at_loss = told();
                                     was_lost.open();
                                   }};
  const auto watch = held.watch_risk(5s, recording());
  let_renewals_fail();
  time_->advance(23s);
  EXPECT_TRUE(told().empty());
  time_->advance(1s);
  await_told({true});
  EXPECT_TRUE(held.is_valid());
  time_->advance(5s);
  was_lost.pass();
  EXPECT_EQ(told_at_loss, std::vector{true});
}

TEST_F(Risk, IsTakenBackByARenewal) {
  const lease held = acquire("a");
  const auto watch = held.watch_risk(5s, recording());
  let_renewals_fail();
  time_->advance(24s);
  await_told({true});
  rows_.before("renew", {});
  await_that([&] { return told() == std::vector{true, false}; }, [&] { time_->advance(20ms); });
  let_renewals_fail();
  time_->advance(24s);
  await_told({true, false, true});
}

TEST_F(Risk, IsNotToldOfALeaseThatIsRenewedInTime) {
  const lease held = acquire("a");
  const auto watch = held.watch_risk(5s, recording());
  for (std::size_t renewals = 1; renewals <= 6; ++renewals) {
    time_->advance(10s);
    await_that([&] { return held.remaining() == 29s; });
  }
  EXPECT_TRUE(told().empty());
}

TEST_F(Risk, OfADeadlineThatIsNearAlreadyIsToldAtOnce) {
  const lease held = acquire("a");
  const auto watch = held.watch_risk(1h, recording());
  await_told({true});
  EXPECT_EQ(held.extend(2h), extend_result::extended);
  await_told({true, false});
}

TEST_F(Risk, IsNotToldOnceTheWatchOrTheLeaseIsGone) {
  lease held = acquire("a");
  {
    const auto ended = held.watch_risk(5s, recording());
    auto moved = held.watch_risk(6s, recording());
    const auto moved_to = std::move(moved);
  }
  const auto watch = held.watch_risk(5s, recording());
  held.release();
  const lease other = acquire("b");
  const auto of_other = other.watch_risk(5s, [this](bool) { others_.open(); });
  let_renewals_fail();
  time_->advance(24s);
  others_.pass();
  EXPECT_TRUE(told().empty());
  const auto of_the_released = held.watch_risk(5s, recording());
  EXPECT_TRUE(told().empty());
}

TEST_F(Risk, OfSeveralWatchesIsToldEachAtItsTime) {
  const lease held = acquire("a");
  std::atomic<int> early = 0;
  std::atomic<int> late = 0;
  const auto first = held.watch_risk(20s, [&](bool) { ++early; });
  const auto second = held.watch_risk(5s, [&](bool) { ++late; });
  let_renewals_fail();
  time_->advance(9s);
  await_that([&] { return early == 1; });
  EXPECT_EQ(late, 0);
  time_->advance(15s);
  await_that([&] { return late == 1; });
  EXPECT_EQ(early, 1);
}

TEST_F(Risk, AWatchMayBeEndedByItsCallback) {
  const lease held = acquire("a");
  std::optional<risk_watch> watch;
  gate assigned;
  gate ended;
  watch.emplace(held.watch_risk(1h, [&](bool) {
    assigned.pass();
    watch.reset();
    ended.open();
  }));
  assigned.open();
  ended.pass();
}

TEST_F(Risk, AWatchThatEndsWaitsForItsCallback) {
  const lease held = acquire("a");
  gate began;
  std::string written;  // for milliseconds
  {
    const auto watch = held.watch_risk(1h, [&](bool) {
      began.open();
      for (int i = 0; i < 1'000'000; ++i) written += 'x';
    });
    began.pass();
  }
  EXPECT_EQ(written.size(), 1'000'000U);
}

TEST_F(Risk, AWatchMayOutliveItsLockTable) {
  std::optional<lease> held{acquire("a")};
  const auto watch = held->watch_risk(5s, recording());
  locks_.reset();
  held.reset();
  EXPECT_TRUE(told().empty());
}

TEST_F(Risk, BadInputIsMisuse) {
  const lease held = acquire("a");
  EXPECT_TRUE(is_misuse([&] { static_cast<void>(held.watch_risk(0s, recording())); }));
  EXPECT_TRUE(is_misuse([&] { static_cast<void>(held.watch_risk(-1s, recording())); }));
  EXPECT_TRUE(is_misuse([&] { static_cast<void>(held.watch_risk(25h, recording())); }));
  EXPECT_TRUE(is_misuse([&] { static_cast<void>(held.watch_risk(5s, nullptr)); }));
}

}  // namespace
}  // namespace rowlock::tests
