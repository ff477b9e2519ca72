// Waiters for several rows: when each gets a turn to try.
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "rowlock/error.hpp"
#include "wait/outage.hpp"
#include "wait/wait_queue.hpp"

namespace rowlock::tests {
namespace {

using namespace std::chrono_literals;

using detail::wait_queue;
using detail::wait_result;

/// A clock on which no thread waits.
class clock_for_one_thread final : public time_source {
 public:
  struct nothing_is_due {};

  [[nodiscard]] boot_clock::time_point now() const noexcept override { return now_; }
  void wait_until(std::unique_lock<std::mutex>& /*lock*/, std::condition_variable& /*wakeup*/,
                  boot_clock::time_point /*until*/) override {
    throw nothing_is_due{};
  }
  void advance(boot_clock::duration step) { now_ += step; }

 private:
  boot_clock::time_point now_{1h};
};

/// Without a loop: the test takes what is due.
class SeveralRows : public testing::Test {
 protected:
  struct one_in_line {
    std::shared_ptr<detail::waiter> place;
    std::shared_ptr<std::optional<wait_result>> end = {};
  };

  refusal held(const lock_key& row) const {
    return {.reason = refusal_reason::held, .key = row, .remaining = 24h};
  }
  static retry_policy every(std::chrono::milliseconds pause) {
    return {.first_pause = pause, .longest_pause = pause, .jitter = false};
  }
  static std::exception_ptr fault(errc kind) {
    return std::make_exception_ptr(error{kind, "a test"});
  }

  one_in_line join(const wait_queue::first_try& first, std::vector<lock_key> awaited,
                   const retry_policy& policy = every(24h)) {
    const auto end = std::make_shared<std::optional<wait_result>>();
    auto place = queue_.join(
        {.key = line_, .owner = make_owner_id(), .holder = {}}, policy, first,
        [end](wait_result how) { *end = std::move(how); }, [] {}, std::move(awaited));
    return {std::move(place), end};
  }
  one_in_line join() { return join({.refused = held(one_)}, {one_, other_}); }
  one_in_line join_behind() { return join({}, {}); }

  wait_queue::work due() {
    try {
      return *queue_.await_work();
    } catch (const clock_for_one_thread::nothing_is_due&) {
      return {};
    }
  }
  bool has_turn(const one_in_line& waiting) {
    const auto heads = due().heads;
    return heads.size() == 1 && heads.front() == waiting.place;
  }
  bool has_nobody_a_turn() { return due().heads.empty(); }
  void are_read(const std::vector<lock_key>& rows, const std::vector<bool>& taken) {
    std::vector<std::optional<row_state>> seen(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (taken[i])
        seen[i] = row_state{.key = rows[i], .version = {}, .owned = true, .remaining = 24h};
    }
    queue_.were_read(rows, seen);
  }
  void is_refused(const one_in_line& waiting, std::vector<lock_key> rows) {
    const auto row = rows.front();
    queue_.tried(waiting.place, {.refused = held(row)}, std::move(rows), time_->now());
  }
  void is_granted(const one_in_line& waiting) { queue_.withdraw(*waiting.place, true); }

  const lock_key line_{"", "both"};
  const lock_key one_{"job", "a"};
  const lock_key other_{"job", "b"};
  std::shared_ptr<clock_for_one_thread> time_ = std::make_shared<clock_for_one_thread>();
  detail::outage outage_;
  wait_queue queue_{time_,
                    {.return_grant = [](const acquire_request&, version) {},
                     .return_if_granted = [](const acquire_request&, version) {}},
                    outage_};
};

TEST_F(SeveralRows, GiveATurnToTheFirstInLineOnceOneIsReleased) {
  const auto first = join();
  const auto second = join_behind();
  EXPECT_TRUE(has_nobody_a_turn());
  queue_.released(other_);
  EXPECT_TRUE(has_turn(first));
  queue_.released(one_);
  EXPECT_TRUE(has_nobody_a_turn()) << "the first has not answered";
  is_granted(first);
  EXPECT_TRUE(has_turn(second));
}

TEST_F(SeveralRows, GiveATurnToAsManyAsWereReleased) {
  const auto first = join();
  const auto second = join_behind();
  const auto third = join_behind();
  queue_.released(one_);
  queue_.released(other_);
  EXPECT_TRUE(has_turn(first));
  is_granted(first);
  EXPECT_TRUE(has_turn(second));
  is_granted(second);
  EXPECT_TRUE(has_nobody_a_turn());
  EXPECT_FALSE(*third.end);
}

TEST_F(SeveralRows, GiveTheTurnOfAWaiterThatLeavesToTheNext) {
  const auto first = join();
  const auto second = join_behind();
  queue_.released(one_);
  EXPECT_TRUE(has_turn(first));
  EXPECT_TRUE(queue_.leave(*first.place));
  EXPECT_TRUE(has_turn(second));
}

TEST_F(SeveralRows, GiveNoTurnForARowThatDidNotRefuse) {
  const auto waiting = join({.refused = held(one_)}, {one_});
  queue_.released(other_);
  EXPECT_TRUE(has_nobody_a_turn());
  queue_.released(one_);
  EXPECT_TRUE(has_turn(waiting));
  is_refused(waiting, {other_});
  queue_.released(one_);
  EXPECT_TRUE(has_nobody_a_turn());
  queue_.released(other_);
  EXPECT_TRUE(has_turn(waiting));
}

TEST_F(SeveralRows, ReleasedDuringATryGiveAnotherTurn) {
  const auto waiting = join();
  queue_.released(one_);
  EXPECT_TRUE(has_turn(waiting));
  queue_.released(other_);
  is_refused(waiting, {one_, other_});
  EXPECT_TRUE(has_turn(waiting));
}

TEST_F(SeveralRows, AreReadAfterThePauseAndAFreeOneGivesATurn) {
  const auto waiting = join({.refused = held(one_)}, {one_, other_}, every(1s));
  const auto behind = join({}, {}, every(24h));
  time_->advance(2s);
  EXPECT_EQ(due().keys, (std::vector{one_, other_}));
  are_read({one_, other_}, {true, true});
  EXPECT_TRUE(has_nobody_a_turn());
  time_->advance(2s);
  EXPECT_EQ(due().keys.size(), 2U);
  are_read({one_, other_}, {false, true});
  EXPECT_TRUE(has_turn(waiting));
  is_granted(waiting);
  EXPECT_TRUE(has_nobody_a_turn()) << "one row was free";
}

TEST_F(SeveralRows, ThatTwoLinesAwaitAreReadOnce) {
  const auto waiting = join({.refused = held(one_)}, {one_, other_}, every(1s));
  const auto of_key = queue_.join({.key = one_, .owner = make_owner_id(), .holder = {}}, every(1s),
                                  {.refused = held(one_)}, [](const wait_result&) {});
  time_->advance(2s);
  EXPECT_EQ(due().keys, (std::vector{one_, other_}));
  are_read({one_, other_}, {false, true});
  EXPECT_EQ(due().heads.size(), 2U);
}

TEST_F(SeveralRows, CountAReadAsATryOfThoseWithLimitedAttempts) {
  auto twice = every(1s);
  twice.attempts = 2;
  const auto waiting = join({.refused = held(one_)}, {one_, other_}, twice);
  time_->advance(2s);
  EXPECT_EQ(due().keys.size(), 2U);
  are_read({one_, other_}, {true, true});
  ASSERT_TRUE(*waiting.end);
  EXPECT_EQ((*waiting.end)->refused->reason, refusal_reason::timed_out);
}

TEST_F(SeveralRows, WithAFreeOneGiveATurnBeforeTheAttemptsAreUsedUp) {
  auto twice = every(1s);
  twice.attempts = 2;
  const auto waiting = join({.refused = held(one_)}, {one_, other_}, twice);
  time_->advance(2s);
  EXPECT_EQ(due().keys.size(), 2U);
  are_read({one_, other_}, {true, false});
  EXPECT_FALSE(*waiting.end);
  EXPECT_TRUE(has_turn(waiting));
}

TEST_F(SeveralRows, ThatCannotBeReadEndTheWaitUnlessTheFaultMayPass) {
  const auto waiting = join({.refused = held(one_)}, {one_, other_}, every(1s));
  time_->advance(2s);
  EXPECT_EQ(due().keys.size(), 2U);
  const std::vector both{one_, other_};
  EXPECT_EQ(queue_.read_failed(both, fault(errc::unavailable)), 1U);
  EXPECT_FALSE(*waiting.end);
  EXPECT_EQ(queue_.read_failed(both, fault(errc::rejected)), 0U);
  ASSERT_TRUE(*waiting.end);
  EXPECT_NE((*waiting.end)->fault, nullptr);
}

TEST_F(SeveralRows, AreTriedForAfterThePauseOfAFailedTry) {
  const auto waiting = join({.fault = fault(errc::unavailable)}, {}, every(1s));
  EXPECT_TRUE(has_nobody_a_turn());
  time_->advance(1s);
  EXPECT_TRUE(has_turn(waiting));
  queue_.tried(waiting.place, {.fault = fault(errc::unavailable)}, {}, time_->now());
  EXPECT_TRUE(has_nobody_a_turn());
  time_->advance(1s);
  EXPECT_TRUE(has_turn(waiting));
}

TEST_F(SeveralRows, AfterAFaultOfTheFirstGiveATurnToTheNextAfterItsPause) {
  const auto first = join({.fault = fault(errc::unavailable)}, {}, every(1s));
  const auto second = join({}, {}, every(1s));
  queue_.withdraw(*first.place, false);
  EXPECT_TRUE(has_nobody_a_turn());
  time_->advance(1s);
  EXPECT_TRUE(has_turn(second));
}

TEST_F(SeveralRows, GoFirstToAWaiterThatKeepsSomeOfThem) {
  const auto first = join();
  const auto keeping = join({.refused = held(other_), .keeps_rows = true}, {other_});
  queue_.released(one_);
  EXPECT_TRUE(has_nobody_a_turn());
  queue_.released(other_);
  EXPECT_TRUE(has_turn(keeping));
  is_granted(keeping);
}

TEST_F(SeveralRows, AreAnnouncedFromTheFirstReadOn) {
  queue_.use_notifications();
  const auto waiting = join();
  EXPECT_EQ(due().keys, (std::vector{one_, other_}));
  are_read({one_, other_}, {true, true});
  queue_.released(one_);
  EXPECT_TRUE(has_turn(waiting));
  const lock_key third{"job", "c"};
  is_refused(waiting, {third});
  EXPECT_EQ(due().keys, (std::vector{third})) << "its release would not be announced";
}

}  // namespace
}  // namespace rowlock::tests
