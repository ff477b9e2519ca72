// When the rows are read whose releases are not announced.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "wait/clock_for_one_thread.hpp"
#include "wait/outage.hpp"
#include "wait/wait_queue.hpp"

namespace rowlock::tests {
namespace {

using namespace std::chrono_literals;

using detail::wait_queue;
using detail::wait_result;
using std::chrono::milliseconds;

/// Without a loop: the test takes what is due, and answers as a database would.
class Polling : public testing::Test {
 protected:
  static retry_policy every(milliseconds pause) {
    return {.first_pause = pause, .longest_pause = pause, .jitter = false};
  }

  void wait_for_key(const lock_key& key, const retry_policy& policy = every(10ms)) {
    queue_.join({.key = key, .owner = make_owner_id(), .holder = {}}, policy,
                {.refused = refusal{.reason = refusal_reason::held, .key = key, .remaining = 24h}},
                [](const wait_result&) {});
  }
  /// The key has been held for so long.
  void hold(const lock_key& key, boot_clock::duration since) { held_since_[key] = now() - since; }

  void answer(const wait_queue::work& due) {
    if (!due.keys.empty()) {
      std::vector<std::optional<row_state>> seen;
      for (const auto& key : due.keys) seen.push_back(row(key));
      queue_.were_read(due.keys, seen);
    }
    for (const auto& head : due.heads) {
      std::array answers{detail::acquire_result{.answer = {.status = refused_as_}}};
      queue_.answered(std::array{head}, answers, now());
    }
  }

  /// Moves the clock on, and returns at which times rows were read, from `now()` on.
  std::vector<milliseconds> reads_in(milliseconds length) {
    std::vector<milliseconds> read_at;
    for (milliseconds passed{0}; passed <= length; passed += 1ms) {
      const auto due = clock_for_one_thread::due(queue_);
      if (!due.keys.empty()) read_at.push_back(passed);
      if (!due.heads.empty()) ++tries_;
      answer(due);
      time_->advance(1ms);
    }
    return read_at;
  }

  [[nodiscard]] boot_clock::time_point now() const { return time_->now(); }

  const lock_key key_{"job", "a"};
  const lock_key other_key_{"job", "b"};
  std::shared_ptr<clock_for_one_thread> time_ = std::make_shared<clock_for_one_thread>();
  detail::outage outage_;
  acquire_status refused_as_ = acquire_status::held;
  std::size_t tries_ = 0;
  wait_queue queue_{time_,
                    {.return_grant = [](const acquire_request&, version) {},
                     .return_if_granted = [](const acquire_request&, version) {}},
                    outage_};

 private:
  [[nodiscard]] std::optional<row_state> row(const lock_key& key) const {
    const auto held = held_since_.find(key);
    if (held == held_since_.end()) return std::nullopt;
    const auto age = std::chrono::duration_cast<std::chrono::microseconds>(now() - held->second);
    return row_state{.key = key, .version = {}, .owned = true, .held_for = age, .remaining = 24h};
  }

  std::map<lock_key, boot_clock::time_point> held_since_;
};

TEST_F(Polling, ReadsAHoldBelowASecondEveryFiftyMilliseconds) {
  hold(key_, 300ms);
  wait_for_key(key_);
  EXPECT_EQ(reads_in(200ms), (std::vector<milliseconds>{10ms, 60ms, 110ms, 160ms}));
}

TEST_F(Polling, ReadsALongHoldOnceASecond) {
  hold(key_, 1min);
  wait_for_key(key_);
  EXPECT_EQ(reads_in(3s), (std::vector<milliseconds>{10ms, 1010ms, 2010ms}));
}

TEST_F(Polling, WaitsATwentiethOfTheAgeOfAHold) {
  hold(key_, 10s - 10ms);
  wait_for_key(key_);
  EXPECT_EQ(reads_in(1s), (std::vector<milliseconds>{10ms, 510ms}));
}

TEST_F(Polling, ReadsAllKeysAtThePaceOfTheYoungestHold) {
  hold(key_, 1min);
  hold(other_key_, 300ms);
  wait_for_key(key_);
  wait_for_key(other_key_);
  reads_in(10ms);
  time_->advance(50ms);
  EXPECT_EQ(clock_for_one_thread::due(queue_).keys, (std::vector{key_, other_key_}));
}

TEST_F(Polling, ReadsNoSoonerThanTheShortestPauseOfAWaiter) {
  hold(key_, 300ms);
  wait_for_key(key_, every(4s));
  EXPECT_EQ(reads_in(10s), (std::vector<milliseconds>{4s, 8s}));
}

TEST_F(Polling, ReadsALongHoldAfterThePausesOfAWaiterWithLimitedAttempts) {
  hold(key_, 1min);
  auto limited = every(100ms);
  limited.attempts = 4;
  wait_for_key(key_, limited);
  wait_for_key(other_key_, every(24h));  // something is due when that wait is over
  EXPECT_EQ(reads_in(500ms), (std::vector<milliseconds>{100ms, 200ms, 300ms}));
}

TEST_F(Polling, MakesTwentyStatementsASecondWhenOthersAreFasterAtEachRelease) {
  wait_for_key(key_);
  const auto reads = reads_in(10s).size();
  EXPECT_EQ(reads, tries_);
  EXPECT_LE(reads + tries_, 200);
  EXPECT_GE(reads + tries_, 196);
}

TEST_F(Polling, ReadsHeldKeysThoughAnotherOneIsTriedAllTheTime) {
  refused_as_ = acquire_status::busy;
  wait_for_key(key_);
  hold(other_key_, 300ms);
  wait_for_key(other_key_);
  EXPECT_GE(reads_in(2s).size(), 10);
}

TEST_F(Polling, DoesNotReadWhatOnlyATryShows) {
  refused_as_ = acquire_status::busy;
  wait_for_key(key_);
  EXPECT_LE(reads_in(2s).size(), 3);
}

/// A store hints that some row has changed.
class HintedPolling : public Polling {
 protected:
  [[nodiscard]] bool is_due() {
    const auto due = clock_for_one_thread::due(queue_);
    time_->advance(reads_take_);
    answer(due);
    return !due.keys.empty();
  }
  /// Whether a read is due after `pause`, and not before.
  [[nodiscard]] bool is_due_after(boot_clock::duration pause) {
    time_->advance(pause - 1ms);
    if (is_due()) return false;
    time_->advance(1ms);
    return is_due();
  }

  boot_clock::duration reads_take_{};
};

TEST_F(HintedPolling, ReadsAtOnce) {
  hold(key_, 1min);
  wait_for_key(key_, every(24h));
  EXPECT_FALSE(is_due());
  EXPECT_TRUE(queue_.changed());
  EXPECT_TRUE(is_due());
  time_->advance(1h);
  EXPECT_FALSE(is_due());
}

TEST_F(HintedPolling, ReadsNoMoreOftenThanEachFiveMilliseconds) {
  hold(key_, 1min);
  wait_for_key(key_, every(24h));
  queue_.changed();
  EXPECT_TRUE(is_due());
  queue_.changed();
  EXPECT_TRUE(is_due_after(5ms));
}

TEST_F(HintedPolling, SpendsAFiftiethOfTheTimeAtMost) {
  hold(key_, 1min);
  wait_for_key(key_, every(24h));
  reads_take_ = 2ms;
  queue_.changed();
  EXPECT_TRUE(is_due());
  queue_.changed();
  reads_take_ = 0ms;
  EXPECT_TRUE(is_due_after(98ms));
}

TEST_F(HintedPolling, IsNotForKeysThatNobodyWaitsFor) { EXPECT_FALSE(queue_.changed()); }

}  // namespace
}  // namespace rowlock::tests
