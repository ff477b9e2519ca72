// How a retry_policy is walked through.
#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <vector>

#include "base/pause.hpp"
#include "rowlock/error.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/retry.hpp"

namespace rowlock::tests {
namespace {

using namespace std::chrono_literals;
using verdict = backoff::verdict;

/// A clock that jumps to whatever one waits for, and remembers the waits.
class jumping_time final : public time_source {
 public:
  [[nodiscard]] boot_clock::time_point now() const noexcept override { return now_; }
  void wait_until(std::unique_lock<std::mutex>& /*lock*/, std::condition_variable& /*wakeup*/,
                  boot_clock::time_point until) override {
    pauses.push_back(until - now_);
    now_ = until;
  }

  std::vector<boot_clock::duration> pauses;

 private:
  boot_clock::time_point now_{1h};
};

class Backoff : public testing::Test {
 protected:
  std::shared_ptr<jumping_time> time_ = std::make_shared<jumping_time>();
};

TEST_F(Backoff, NoWaitIsOneTry) {
  backoff pauses{no_wait(), time_};
  EXPECT_EQ(pauses.pause(), verdict::exhausted);
  EXPECT_TRUE(time_->pauses.empty());
}

TEST_F(Backoff, ANegativeOrZeroWaitTriesOnce) {
  EXPECT_EQ((backoff{wait_for(0ms), time_}.pause()), verdict::exhausted);
  EXPECT_EQ((backoff{wait_for(-5s), time_}.pause()), verdict::exhausted);
}

TEST_F(Backoff, ADurationIsAWaitForIt) {
  const acquire_options options{.wait = 2s};
  EXPECT_EQ(options.wait.give_up_after, 2000ms);
  EXPECT_EQ(options.wait.attempts, std::nullopt);
  EXPECT_EQ((backoff{wait_policy{0s}, time_}.pause()), verdict::exhausted);
  static_assert(!std::is_convertible_v<std::chrono::microseconds, wait_policy>,
                "what is shorter than a millisecond is not cut to none");
}

TEST_F(Backoff, AttemptsCountTheFirstTry) {
  backoff pauses{{.attempts = 3}, time_};
  EXPECT_EQ(pauses.pause(), verdict::again);
  EXPECT_EQ(pauses.pause(), verdict::again);
  EXPECT_EQ(pauses.pause(), verdict::exhausted);
}

TEST_F(Backoff, WithoutJitterPausesDoubleUpToTheLongest) {
  backoff pauses{{.first_pause = 10ms, .longest_pause = 50ms, .jitter = false}, time_};
  for (int i = 0; i < 5; ++i) EXPECT_EQ(pauses.pause(), verdict::again);
  EXPECT_EQ(time_->pauses, (std::vector<boot_clock::duration>{10ms, 20ms, 40ms, 50ms, 50ms}));
}

TEST_F(Backoff, WithJitterPausesStayBetweenTheBoundsAndDiffer) {
  backoff pauses{{.first_pause = 10ms, .longest_pause = 1s}, time_};
  for (int i = 0; i < 50; ++i) EXPECT_EQ(pauses.pause(), verdict::again);
  for (const auto pause : time_->pauses) {
    EXPECT_GE(pause, 10ms);
    EXPECT_LE(pause, 1s);
  }
  EXPECT_NE(time_->pauses.front(), time_->pauses[1]);
}

TEST_F(Backoff, TheLastTryIsMadeAtTheEndOfTheTime) {
  backoff pauses{{.first_pause = 70ms, .jitter = false, .give_up_after = 100ms}, time_};
  EXPECT_EQ(pauses.pause(), verdict::again);
  EXPECT_EQ(pauses.pause(), verdict::again);
  EXPECT_EQ(pauses.remaining(), 0ms);
  EXPECT_TRUE(pauses.is_last_try());
  EXPECT_EQ(pauses.pause(), verdict::exhausted);
  EXPECT_EQ(time_->pauses, (std::vector<boot_clock::duration>{70ms, 30ms}));
}

TEST_F(Backoff, AKnownBetterMomentShortensAPause) {
  backoff pauses{{.first_pause = 1s, .jitter = false}, time_};
  EXPECT_EQ(pauses.pause(5ms), verdict::again);
  EXPECT_EQ(time_->pauses.front(), 5ms);
}

TEST_F(Backoff, TheLongestTimesThereAreMeanForEver) {
  constexpr auto longest = std::chrono::milliseconds::max();
  backoff for_ever{wait_for(longest), time_};
  EXPECT_EQ(for_ever.pause(), verdict::again);
  EXPECT_GT(for_ever.remaining(), 24h);
  backoff lazy{{.first_pause = longest, .longest_pause = longest}, time_};
  EXPECT_EQ(lazy.pause(1ms), verdict::again);
  EXPECT_EQ(lazy.pause(1ms), verdict::again);
}

TEST_F(Backoff, AStopEndsIt) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ((backoff{wait_until_stopped(stop.get_token()), time_}.pause()), verdict::stopped);
}

TEST_F(Backoff, APolicyThatCannotBeMeantIsMisuse) {
  const auto is_misuse = [](const retry_policy& policy) {
    try {
      const backoff made{policy};
    } catch (const error& fault) {
      return fault.kind() == errc::misuse;
    }
    return false;
  };
  EXPECT_TRUE(is_misuse({.attempts = 0}));
  EXPECT_TRUE(is_misuse({.first_pause = 0ms}));
  EXPECT_TRUE(is_misuse({.first_pause = 10ms, .longest_pause = 5ms}));
}

TEST(NextChance, IsInAnHourWhereARowSaysThatItsLeaseLastsForAThousandYears) {
  const auto refused_for = [](std::chrono::microseconds left) {
    return detail::next_chance({.reason = refusal_reason::held, .key = {}, .remaining = left});
  };
  EXPECT_EQ(refused_for(30s), 30s + 1ms);
  EXPECT_EQ(refused_for(24h * 365 * 1000), 1h + 1ms);
}

}  // namespace
}  // namespace rowlock::tests
