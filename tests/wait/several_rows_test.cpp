// Waiters for several rows: when each gets a turn to try.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "rowlock/error.hpp"
#include "wait/clock_for_one_thread.hpp"
#include "wait/outage.hpp"
#include "wait/wait_queue.hpp"

namespace rowlock::tests {
namespace {

using namespace std::chrono_literals;

using detail::wait_queue;
using detail::wait_result;

/// Without a loop: the test takes what is due.
class SeveralRows : public testing::Test {
 protected:
  struct one_in_line {
    std::shared_ptr<detail::waiter> place;
    std::shared_ptr<std::optional<wait_result>> end = {};
    std::shared_ptr<int> turns = {};
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

  /// Something is due at last, or `await_work` would wait for ever.
  void SetUp() override {
    queue_.join(
        {.key = {"", "other rows"}, .owner = make_owner_id(), .holder = {}}, every(24h * 365),
        {.fault = fault(errc::unavailable)}, [](const wait_result&) {}, [] {});
  }

  one_in_line join(const wait_queue::try_result& first, std::vector<lock_key> awaited,
                   const retry_policy& policy = every(24h)) {
    const auto end = std::make_shared<std::optional<wait_result>>();
    const auto turns = std::make_shared<int>(0);
    auto place = queue_.join(
        {.key = line_, .owner = make_owner_id(), .holder = {}}, policy, first,
        [end](wait_result how) { *end = std::move(how); }, [turns] { ++*turns; },
        std::move(awaited));
    turns_.push_back(turns);
    return {std::move(place), end, turns};
  }
  one_in_line join() { return join({.refused = held(one_)}, {one_, other_}); }
  one_in_line join_behind() { return join({}, {}); }

  wait_queue::work due() { return clock_for_one_thread::due(queue_); }
  /// Whether this waiter gets a turn now, and no other.
  bool has_turn(const one_in_line& waiting) {
    const auto before = *waiting.turns;
    return new_turns() == 1 && *waiting.turns == before + 1;
  }
  bool has_nobody_a_turn() { return new_turns() == 0; }
  int new_turns() {
    const auto sum = [this] {
      int all = 0;
      for (const auto& each : turns_) all += *each;
      return all;
    };
    const auto before = sum();
    read_ = due().keys;
    return sum() - before;
  }
  /// Each row has a lease of so long, or is free.
  void are_read(const std::vector<lock_key>& rows, const std::vector<std::chrono::seconds>& left) {
    std::vector<std::optional<row_state>> seen(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (left[i] == 0s) continue;
      seen[i] = row_state{.key = rows[i], .version = {}, .owned = true, .remaining = left[i]};
    }
    queue_.were_read(rows, seen);
  }
  /// Each row has been held for so long.
  void are_held(const std::vector<lock_key>& rows,
                const std::vector<std::chrono::milliseconds>& ages) {
    std::vector<std::optional<row_state>> seen;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      seen.push_back(row_state{
          .key = rows[i], .version = {}, .owned = true, .held_for = ages[i], .remaining = 24h});
    }
    queue_.were_read(rows, seen);
  }
  void is_refused(const one_in_line& waiting, std::vector<lock_key> rows) {
    const auto row = rows.front();
    queue_.report_try(waiting.place, {.refused = held(row)}, std::move(rows), time_->now());
  }
  void is_granted(const one_in_line& waiting) { queue_.withdraw(*waiting.place, std::array{one_}); }

  const lock_key line_{"", "both"};
  const lock_key one_{"job", "a"};
  const lock_key other_{"job", "b"};
  std::shared_ptr<clock_for_one_thread> time_ = std::make_shared<clock_for_one_thread>();
  detail::outage outage_;
  std::vector<std::shared_ptr<int>> turns_;
  std::vector<lock_key> read_;  // at the last look for turns
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

TEST_F(SeveralRows, ReleasedTogetherDuringATryGiveAsManyTurns) {
  const auto first = join();
  const auto second = join_behind();
  queue_.released(one_);
  EXPECT_TRUE(has_turn(first));
  queue_.released(one_);
  queue_.released(other_);
  is_refused(first, {one_, other_});
  EXPECT_TRUE(has_turn(first));
  is_granted(first);
  EXPECT_TRUE(has_turn(second));
}

TEST_F(SeveralRows, ThatTheGrantedOneDidNotTakeGiveTheNextATurn) {
  const auto first = join({.refused = held(one_)}, {one_});
  const auto second = join_behind();
  queue_.released(one_);
  EXPECT_TRUE(has_turn(first));
  queue_.withdraw(*first.place, std::array{other_});  // as readers do, once the gate is free
  EXPECT_TRUE(has_turn(second));
}

TEST_F(SeveralRows, GiveTheNextATurnAfterAGrantThatNoReleaseWasAnnouncedFor) {
  const auto first = join({.refused = held(one_)}, {one_, other_}, every(1s));
  const auto second = join_behind();
  const auto third = join_behind();
  time_->advance(1s);
  EXPECT_TRUE(has_turn(first));
  is_granted(first);
  EXPECT_TRUE(has_turn(second)) << "the other row may be free, too";
  queue_.withdraw(*second.place, std::array{one_, other_});
  EXPECT_TRUE(has_nobody_a_turn()) << "all rows are taken";
  EXPECT_FALSE(*third.end);
}

TEST_F(SeveralRows, AreTriedForByTheFirstWhenTheTimeOfAnotherIsOver) {
  const auto first = join();
  const auto second = join_behind();
  EXPECT_FALSE(queue_.leave_after_last_try(*second.place));
  EXPECT_TRUE(has_turn(first));
  is_refused(first, {one_, other_});
  ASSERT_TRUE(*second.end);
  EXPECT_EQ((*second.end)->refused->reason, refusal_reason::timed_out);
  EXPECT_FALSE(*first.end);
}

TEST_F(SeveralRows, AreTriedForUpToAWaiterWhoseTimeIsOver) {
  const auto first = join({.refused = held(one_)}, {one_});
  const auto second = join_behind();
  const auto third = join_behind();
  EXPECT_FALSE(queue_.leave_after_last_try(*third.place));
  EXPECT_TRUE(has_turn(first));
  is_granted(first);
  EXPECT_TRUE(has_turn(second));
  is_granted(second);
  EXPECT_TRUE(has_turn(third));
}

TEST_F(SeveralRows, AreTriedForAfterThePausesOfOthersInLineToo) {
  const auto first = join();
  auto twice = every(1s);
  twice.attempts = 2;
  const auto behind = join({}, {}, twice);
  time_->advance(1s);
  EXPECT_TRUE(has_turn(first));
  is_refused(first, {one_, other_});
  EXPECT_TRUE(*behind.end);
}

TEST_F(SeveralRows, GiveTheNextATurnWhenTheFirstHasUsedUpItsAttempts) {
  auto twice = every(1s);
  twice.attempts = 2;
  const auto first = join({.refused = held(one_)}, {one_, other_}, twice);
  const auto second = join({}, {}, every(10ms));
  time_->advance(1s);
  EXPECT_TRUE(has_turn(first));
  is_refused(first, {one_, other_});
  ASSERT_TRUE(*first.end);
  time_->advance(10ms);
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
  EXPECT_TRUE(has_nobody_a_turn());
  is_refused(waiting, {one_, other_});
  EXPECT_TRUE(has_turn(waiting));
}

TEST_F(SeveralRows, AreTriedForAfterThePauseOfTheFirst) {
  const auto waiting = join({.refused = held(one_)}, {one_, other_}, every(100ms));
  const auto behind = join({}, {}, every(24h));
  EXPECT_TRUE(has_nobody_a_turn());
  time_->advance(100ms);
  EXPECT_TRUE(has_turn(waiting));
  is_refused(waiting, {one_, other_});
  EXPECT_TRUE(has_nobody_a_turn());
  time_->advance(100ms);
  EXPECT_TRUE(has_turn(waiting));
}

TEST_F(SeveralRows, AreTriedForWhenTheFirstOfTheLeasesRunsOut) {
  queue_.use_notifications();
  const auto waiting = join();
  EXPECT_EQ(due().keys, (std::vector{one_, other_}));
  are_read({one_, other_}, {24h, 5s});
  time_->advance(5s);
  EXPECT_TRUE(has_nobody_a_turn());
  time_->advance(1ms);
  EXPECT_TRUE(has_turn(waiting));
}

TEST_F(SeveralRows, ThatAreFoundFreeGiveTurns) {
  queue_.use_notifications();
  const auto first = join();
  const auto second = join_behind();
  const auto third = join_behind();
  EXPECT_EQ(due().keys, (std::vector{one_, other_}));
  are_read({one_, other_}, {0s, 0s});
  EXPECT_TRUE(has_turn(first));
  is_granted(first);
  EXPECT_TRUE(has_turn(second));
  is_granted(second);
  EXPECT_TRUE(has_nobody_a_turn());
  EXPECT_FALSE(*third.end);
}

TEST_F(SeveralRows, WhoseReleaseIsNotAnnouncedAreRead) {
  const retry_policy rarely{.first_pause = 10ms, .longest_pause = 24h, .jitter = false};
  const auto waiting = join({.refused = held(one_)}, {one_, other_}, rarely);
  int reads = 0;
  for (auto end = time_->now() + 1s; time_->now() < end; time_->advance(1ms)) {
    if (has_turn(waiting)) is_refused(waiting, {one_, other_});
    if (read_.empty()) continue;
    ++reads;
    are_held({one_, other_}, {24h, 100ms});
  }
  EXPECT_GE(reads, 10);
  EXPECT_LE(reads, 20);
  time_->advance(100ms);
  EXPECT_EQ(due().keys, (std::vector{one_, other_}));
  are_read({one_, other_}, {24h, 0s});
  EXPECT_TRUE(has_turn(waiting));
}

TEST_F(SeveralRows, ThatTwoLinesAwaitAreReadOnce) {
  const auto waiting = join();
  const auto of_key = queue_.join({.key = one_, .owner = make_owner_id(), .holder = {}}, every(1s),
                                  {.refused = held(one_)}, [](const wait_result&) {});
  time_->advance(2s);
  EXPECT_EQ(due().keys, (std::vector{one_, other_}));
  are_read({one_, other_}, {0s, 24h});
  EXPECT_EQ(due().heads.size(), 1U) << "the loop tries for the other";
  EXPECT_EQ(*waiting.turns, 1);
}

TEST_F(SeveralRows, CountEachTryOfThoseWithLimitedAttempts) {
  auto thrice = every(1s);
  thrice.attempts = 3;
  const auto waiting = join({.refused = held(one_)}, {one_, other_}, thrice);
  for (const bool is_last : {false, true}) {
    EXPECT_FALSE(*waiting.end);
    time_->advance(1s);
    EXPECT_TRUE(has_turn(waiting));
    is_refused(waiting, {one_, other_});
    EXPECT_EQ(waiting.end->has_value(), is_last);
  }
  EXPECT_EQ((*waiting.end)->refused->reason, refusal_reason::timed_out);
}

TEST_F(SeveralRows, AreTriedForAfterThePauseOfAFailedTry) {
  const auto waiting = join({.fault = fault(errc::unavailable)}, {}, every(1s));
  EXPECT_TRUE(has_nobody_a_turn());
  time_->advance(1s);
  EXPECT_TRUE(has_turn(waiting));
  queue_.report_try(waiting.place, {.fault = fault(errc::unavailable)}, {}, time_->now());
  EXPECT_TRUE(has_nobody_a_turn());
  time_->advance(1s);
  EXPECT_TRUE(has_turn(waiting));
}

TEST_F(SeveralRows, AfterAFaultOfTheFirstGiveATurnToTheNextOnceItIsGranted) {
  const auto first = join({.fault = fault(errc::unavailable)}, {}, every(1s));
  const auto second = join({}, {}, every(1s));
  time_->advance(1s);
  EXPECT_TRUE(has_turn(first));
  is_granted(first);
  EXPECT_TRUE(has_turn(second)) << "nothing is known of the rows";
}

TEST_F(SeveralRows, GoFirstToAWaiterThatKeepsSomeOfThem) {
  const auto first = join();
  queue_.released(one_);
  EXPECT_TRUE(has_turn(first));
  const auto keeping = join({.refused = held(other_), .keeps_rows = true}, {other_}, every(1s));
  is_refused(first, {one_});
  queue_.released(one_);
  EXPECT_TRUE(has_nobody_a_turn());
  queue_.released(other_);
  EXPECT_TRUE(has_turn(keeping));
  is_granted(keeping);
}

TEST_F(SeveralRows, GoToAWaiterInDoubtBeforeOthersButAfterOneThatKeepsSome) {
  const auto first = join();
  const auto in_doubt = join({.fault = fault(errc::outcome_unknown)}, {}, every(1s));
  const auto keeping = join({.refused = held(other_), .keeps_rows = true}, {other_}, every(1s));
  const auto other_doubt = join({.fault = fault(errc::outcome_unknown)}, {}, every(1s));
  time_->advance(1s);
  EXPECT_TRUE(has_turn(keeping));
  is_granted(keeping);
  time_->advance(24h);
  EXPECT_TRUE(has_turn(other_doubt));
  is_granted(other_doubt);
  time_->advance(24h);
  EXPECT_TRUE(has_turn(in_doubt));
  is_granted(in_doubt);
  time_->advance(24h);
  EXPECT_TRUE(has_turn(first));
}

TEST_F(SeveralRows, AreKeptByAWaiterThatGoesToTheFrontWithThem) {
  const auto first = join();
  queue_.released(one_);
  EXPECT_TRUE(has_turn(first));
  const auto in_doubt = join({.fault = fault(errc::outcome_unknown)}, {}, every(1s));
  queue_.report_try(first.place, {.refused = held(other_), .keeps_rows = true}, {other_},
                    time_->now());
  queue_.released(other_);
  EXPECT_TRUE(has_turn(first));
}

TEST_F(SeveralRows, AreAnnouncedFromTheFirstReadOn) {
  queue_.use_notifications();
  const auto waiting = join();
  EXPECT_EQ(due().keys, (std::vector{one_, other_}));
  are_read({one_, other_}, {24h, 24h});
  queue_.released(one_);
  EXPECT_TRUE(has_turn(waiting));
  const lock_key third{"job", "c"};
  is_refused(waiting, {third});
  EXPECT_EQ(due().keys, (std::vector{third})) << "its release would not be announced";
}

TEST_F(SeveralRows, AreReadAgainAfterAReadThatFailed) {
  queue_.use_notifications();
  join();
  EXPECT_EQ(due().keys, (std::vector{one_, other_}));
  queue_.read_failed(std::array{one_, other_}, fault(errc::unavailable));
  time_->advance(1s);
  EXPECT_EQ(due().keys, (std::vector{one_, other_}));
}

TEST_F(SeveralRows, AreTriedForAtOnceByAWaiterThatCameBeforeTheGrantedOne) {
  const auto first = join({.refused = held(one_)}, {one_, other_}, every(1s));
  time_->advance(1s);
  EXPECT_TRUE(has_turn(first));
  const auto in_doubt = join({.fault = fault(errc::outcome_unknown)}, {});
  is_granted(first);
  EXPECT_TRUE(has_turn(in_doubt));
}

TEST_F(SeveralRows, AreReadAgainBeforeTheirMarksLapse) {
  queue_.use_notifications();
  join();
  EXPECT_EQ(due().keys, (std::vector{one_, other_}));
  are_read({one_, other_}, {24h, 24h});
  time_->advance(4s);
  EXPECT_EQ(due().keys, (std::vector{one_, other_}));
}

}  // namespace
}  // namespace rowlock::tests
