// Acquiring and releasing without a thread that waits.
#include "rowlock/async.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "rowlock/error.hpp"
#include "support/caught_error.hpp"
#include "support/forked_child.hpp"
#include "support/hooked_store.hpp"
#include "support/patience.hpp"
#include "support/recording_observer.hpp"

namespace rowlock::tests {
namespace {

using namespace std::chrono_literals;

class Async : public testing::Test {
 protected:
  struct attempt {
    std::future<acquire_end> end;
    pending_acquire pending;

    outcome<lease> answer() { return end.get().answer.value(); }
    [[nodiscard]] bool is_over() const { return end.wait_for(0s) == std::future_status::ready; }
  };

  attempt start(const retry_policy& wait = no_wait()) {
    return start(acquire_options{.wait = wait});
  }
  attempt start(const acquire_options& options) { return start(options, key_); }
  attempt start(const acquire_options& options, const lock_key& key) {
    const auto promised = std::make_shared<std::promise<acquire_end>>();
    auto end = promised->get_future();
    return {std::move(end), start_acquire(*ours_, key, options, [promised](acquire_end how) {
              promised->set_value(std::move(how));
            })};
  }
  lease theirs() { return *theirs_.try_acquire(key_); }
  bool is_free() { return theirs_.try_acquire(key_).acquired(); }
  /// Returns once a refused waiter has read the row.
  void await_in_line(std::chrono::milliseconds step = 20ms) {
    rows_.await_one_more(*time_, "watch", step);
  }
  /// Reads after a second, and then not for two.
  static retry_policy patient_for(std::chrono::milliseconds limit) {
    return {.first_pause = 1s, .longest_pause = 24h, .jitter = false, .give_up_after = limit};
  }

  const lock_key key_{"job", "a"};
  std::shared_ptr<manual_time> time_ = std::make_shared<manual_time>();
  hooked_store rows_{time_};
  lock_table theirs_{rows_.rows(), {.ttl = 1h, .holder = "theirs", .time = time_}};
  std::optional<lock_table> ours_{std::in_place, rows_,
                                  lock_options{.ttl = 1h, .blocking_threads = 1, .time = time_}};
};

TEST_F(Async, IsToldOfAGrantOfARefusalAndOfAFault) {
  auto granted = start().answer();
  EXPECT_TRUE(granted->is_valid());
  EXPECT_EQ(start().answer().refusal().reason, refusal_reason::held);
  rows_.before("acquire", [] { throw error{errc::unavailable, "gone"}; });
  EXPECT_NE(start().end.get().fault, nullptr);
}

TEST_F(Async, ThrowsMisuseAndThenTellsNothing) {
  EXPECT_THROW(start_acquire(*ours_, {"", ""}, {}, [](acquire_end) { FAIL(); }), error);
  EXPECT_THROW((lock_table{rows_, {.blocking_threads = 0}}), error);
}

TEST_F(Async, WritesItsNoteBeforeItIsTold) {
  const auto granted = start(acquire_options{.note = "copying"}).answer();
  EXPECT_EQ(rows_.rows().read(std::array{key_}).front()->note, "copying");
}

TEST_F(Async, OfManyWaitsTakesNoThreadOfTheCrew) {
  auto held = theirs();
  std::vector<attempt> waiting;
  for (int i = 0; i < 50; ++i) waiting.push_back(start(wait_forever()));
  rows_.await("acquire", 1);
  await_in_line();
  EXPECT_FALSE(start().answer().acquired()) << "the one thread is free to try for others";
  held.release();
  rows_.await_moving(*time_, "acquire", 3);
  for (auto& each : waiting) EXPECT_TRUE(each.answer().acquired());
}

TEST_F(Async, AsksOnceMoreAtTheEndOfALimitedTime) {
  auto held = theirs();
  auto waiting = start(patient_for(2s));
  rows_.await("acquire", 1);
  await_in_line(2ms);
  held.release();
  time_->advance(1s);
  EXPECT_TRUE(waiting.answer().acquired());
}

TEST_F(Async, IsRefusedAsTimedOutAfterThatAndStillSaysWhoHoldsTheKey) {
  const auto held = theirs();
  auto waiting = start(patient_for(2s));
  rows_.await("acquire", 1);
  await_in_line(2ms);
  time_->advance(500ms);
  EXPECT_FALSE(waiting.is_over());
  time_->advance(500ms);
  const auto refused = waiting.answer();
  EXPECT_EQ(refused.refusal().reason, refusal_reason::timed_out);
  EXPECT_EQ(refused.refusal().holder, "theirs");
  EXPECT_EQ(rows_.batches("acquire").size(), 2);
}

TEST_F(Async, TheTimeOfOneIsWatchedWhileTheOthersWork) {
  ours_.emplace(rows_, lock_options{.ttl = 1h, .blocking_threads = 2, .time = time_});
  const auto held = theirs();
  auto first = start(patient_for(2s));
  rows_.await("acquire", 1);
  await_in_line(2ms);
  gate answer;
  std::atomic<int> calls{0};
  rows_.before("acquire", [&] {
    if (++calls == 1) answer.pass();
  });
  auto hanging = start();
  answer.await_visitor();
  time_->advance(1s);
  EXPECT_EQ(first.answer().refusal().reason, refusal_reason::timed_out);
  answer.open();
  EXPECT_FALSE(hanging.answer().acquired());
}

TEST_F(Async, ThatIsStoppedLeavesItsLineAndSaysWhoHoldsTheKey) {
  const auto held = theirs();
  std::stop_source stop;
  auto waiting = start(wait_until_stopped(stop.get_token()));
  rows_.await("acquire", 1);
  await_in_line();
  stop.request_stop();
  ASSERT_TRUE(waiting.is_over());
  const auto refused = waiting.answer();
  EXPECT_EQ(refused.refusal().reason, refusal_reason::stopped);
  EXPECT_EQ(refused.refusal().holder, "theirs");
}

TEST_F(Async, ThatIsCancelledInItsLineIsOverAtOnce) {
  const auto held = theirs();
  auto waiting = start(wait_forever());
  rows_.await("acquire", 1);
  await_in_line();
  waiting.pending.cancel();
  ASSERT_TRUE(waiting.is_over());
  EXPECT_EQ(waiting.answer().refusal().reason, refusal_reason::stopped);
  waiting.pending.cancel();
}

TEST_F(Async, ThatIsCancelledDuringAStatementIsOverAtOnceAndTheGrantIsReleased) {
  gate answer;
  rows_.after("acquire", [&] { answer.pass(); });
  auto in_flight = start(wait_forever());
  rows_.await("acquire", 1);
  in_flight.pending.cancel();
  ASSERT_TRUE(in_flight.is_over());
  EXPECT_EQ(in_flight.answer().refusal().reason, refusal_reason::stopped);
  answer.open();
  rows_.await("release", 1);
  await_that([&] { return is_free(); });
}

TEST_F(Async, ThatIsCancelledDuringAStatementDoesNotGetInLine) {
  auto held = theirs();
  gate answer;
  rows_.before("acquire", [&] { answer.pass(); });
  auto in_flight = start(wait_forever());
  rows_.await("acquire", 1);
  in_flight.pending.cancel();
  answer.open();
  held.release();
  EXPECT_TRUE(start(wait_for(1h)).answer().acquired()) << "the waiter that is gone stands before";
}

TEST_F(Async, ThatIsCancelledBeforeItIsToldOfItsGrantNamesItsKey) {
  auto held = theirs();
  auto other = *theirs_.try_acquire({"job", "c"});
  auto waiting = start(wait_forever());
  rows_.await("acquire", 1);
  auto behind = start({.wait = wait_forever()}, {"job", "c"});
  rows_.await("acquire", 2);
  await_in_line();
  gate told;
  start_acquire(*ours_, {"job", "b"}, {}, [&](const acquire_end&) { told.pass(); });
  told.await_visitor();  // the only thread of the pool tells nothing else meanwhile
  held.release();
  rows_.await_one_more(*time_, "acquire");
  other.release();
  rows_.await_one_more(*time_, "acquire");  // by then the grant of the first is taken up
  waiting.pending.cancel();
  told.open();
  EXPECT_EQ(waiting.answer().refusal().key, key_);
}

TEST_F(Async, ThatIsCancelledBeforeItsTurnAsksNothing) {
  gate answer;
  rows_.before("acquire", [&] { answer.pass(); });
  auto first = start();
  rows_.await("acquire", 1);
  auto second = start();
  second.pending.cancel();
  EXPECT_TRUE(second.is_over());
  answer.open();
  const auto held = first.answer();
  EXPECT_EQ(start().answer().refusal().reason, refusal_reason::held);
  EXPECT_EQ(rows_.batches("acquire").size(), 2);
}

TEST_F(Async, ThatIsStoppedDuringItsFirstStatementIsOverAtOnceAndTheGrantIsReleased) {
  gate answer;
  rows_.after("acquire", [&] { answer.pass(); });
  std::stop_source stop;
  auto in_flight = start(wait_until_stopped(stop.get_token()));
  answer.await_visitor();
  stop.request_stop();
  EXPECT_TRUE(in_flight.is_over());
  answer.open();
  EXPECT_EQ(in_flight.answer().refusal().reason, refusal_reason::stopped);
  rows_.await("release", 1);
}

TEST_F(Async, ThatIsStoppedBeforeItsTurnAsksNothing) {
  gate answer;
  rows_.before("acquire", [&] { answer.pass(); });
  std::stop_source stop;
  auto first = start();
  answer.await_visitor();
  auto second = start(wait_until_stopped(stop.get_token()));
  stop.request_stop();
  EXPECT_TRUE(second.is_over());
  answer.open();
  const auto held = first.answer();
  EXPECT_EQ(second.answer().refusal().reason, refusal_reason::stopped);
  EXPECT_FALSE(start().answer().acquired());
  EXPECT_EQ(rows_.batches("acquire").size(), 2);
}

TEST_F(Async, ThatWasStoppedBeforeItBeganHasOneTryAllTheSame) {
  gate answer;
  rows_.before("acquire", [&] { answer.pass(); });
  auto first = start();
  answer.await_visitor();
  std::stop_source stop;
  stop.request_stop();
  auto second = start({.wait = wait_until_stopped(stop.get_token())}, {"job", "b"});
  EXPECT_FALSE(second.is_over());
  answer.open();
  EXPECT_TRUE(second.answer().acquired());
}

TEST_F(Async, EndsInItsOwnTimeWhileTheFirstStatementsHang) {
  gate answer;
  rows_.after("acquire", [&] { answer.pass(); });
  auto in_flight = start(wait_for(3s));
  answer.await_visitor();
  auto queued = start(wait_for(3s));
  time_->advance(5s);
  const auto fault_of = [](attempt& tried) {
    return error_of([&] { std::rethrow_exception(tried.end.get().fault); }).kind;
  };
  EXPECT_EQ(fault_of(in_flight), errc::outcome_unknown) << "it may have been granted";
  EXPECT_EQ(fault_of(queued), errc::unavailable) << "it was not requested";
  answer.open();
  rows_.await("release", 1);
  EXPECT_TRUE(start(wait_for(1h)).answer().acquired()) << "the late grant was given back";
  EXPECT_EQ(rows_.batches("acquire").size(), 2) << "the call that was answered requests nothing";
}

TEST_F(Async, EndsAsStoppedWithItsTableWhateverItIsAt) {
  gate answer;
  const auto held = theirs();
  auto waiting = start(wait_forever());
  rows_.await("acquire", 1);
  await_in_line();
  rows_.before("acquire", [&] { answer.pass(); });
  auto in_flight = start();
  rows_.await("acquire", 2);
  auto queued = start();
  std::jthread closing{[this] { ours_.reset(); }};
  for (auto* each : {&waiting, &in_flight, &queued}) {
    EXPECT_EQ(each->answer().refusal().reason, refusal_reason::stopped);
  }
  answer.open();
  closing.join();
  EXPECT_EQ(rows_.batches("acquire").size(), 2);
}

TEST_F(Async, IsLeftAloneByAChildOfFork) {
  const auto held = theirs();
  std::stop_source stop;
  auto waiting = start(wait_until_stopped(stop.get_token()));
  rows_.await("acquire", 1);
  await_in_line();
  const auto wrong = complaints_of_child([&](std::vector<std::string>& said) {
    stop.request_stop();
    if (waiting.is_over()) said.emplace_back("it was stopped");
    waiting.pending.cancel();
    if (waiting.is_over()) said.emplace_back("it was cancelled");
  });
  EXPECT_EQ(wrong, std::vector<std::string>{});
  EXPECT_FALSE(waiting.is_over());
  waiting.pending.cancel();
  EXPECT_TRUE(waiting.is_over());
}

TEST_F(Async, ReleasesNothingAsDoneForATimeThatCannotBeMeant) {
  using std::chrono::milliseconds;
  for (const auto never : {milliseconds::max(), milliseconds::min(), milliseconds{0}}) {
    auto granted = start().answer();
    EXPECT_THROW(start_release(*std::move(granted), {.done_for = never}, [](auto) { FAIL(); }),
                 error);
    EXPECT_TRUE(is_free());
    EXPECT_FALSE(rows_.rows().read(std::array{key_}).front()->done);
  }
}

TEST_F(Async, MayBeStartedInTheCallThatTellsOfAnEnd) {
  std::promise<bool> promised;
  start_acquire(*ours_, key_, {}, [&](acquire_end first) {
    const auto held = std::make_shared<lease>(**std::move(first.answer));
    start_acquire(*ours_, key_, {}, [&promised, held](acquire_end second) {
      promised.set_value(second.answer->acquired());
    });
  });
  EXPECT_FALSE(promised.get_future().get());
}

TEST_F(Async, ReleasesByTheCrew) {
  std::thread::id by;
  rows_.before("release", [&] { by = std::this_thread::get_id(); });
  std::promise<release_result> promised;
  start_release(*start().answer(), {}, [&](release_result how) { promised.set_value(how); });
  EXPECT_EQ(promised.get_future().get(), release_result::released);
  EXPECT_NE(by, std::this_thread::get_id());
  EXPECT_TRUE(is_free());
}

TEST_F(Async, ReleasesNothingOfATableThatIsGone) {
  auto held = *start().answer();
  ours_.reset();
  std::optional<release_result> promised;
  start_release(std::move(held), {}, [&](release_result how) { promised = how; });
  EXPECT_EQ(promised, release_result::lost);
}

TEST_F(Async, ReleasesThatAreLeftWhenTheTableEndsAreNotMadeOneByOne) {
  const auto held = theirs();
  auto first = *start({}, {"job", "b"}).answer();
  auto second = *start({}, {"job", "c"}).answer();
  auto waiting = start(wait_forever());
  rows_.await("acquire", 3);
  await_in_line();
  gate answer;
  std::atomic<int> calls{0};
  rows_.before("release", [&] {
    if (++calls == 1) answer.pass();
  });
  start_release(std::move(first), {}, [](release_result) {});
  answer.await_visitor();
  std::promise<release_result> queued;
  start_release(std::move(second), {}, [&](release_result how) { queued.set_value(how); });
  std::jthread closing{[this] { ours_.reset(); }};
  EXPECT_EQ(waiting.answer().refusal().reason, refusal_reason::stopped);
  answer.open();
  EXPECT_EQ(queued.get_future().get(), release_result::deferred);
  closing.join();
  EXPECT_TRUE(theirs_.try_acquire({"job", "c"}).acquired());
}

TEST_F(Async, IsObserved) {
  const auto noted = std::make_shared<recording_observer>();
  ours_.emplace(rows_, lock_options{.ttl = 1h, .time = time_, .observer = noted});
  auto held = start().answer();
  EXPECT_EQ(noted->await<acquired_event>().token, held->token());
  auto waiting = start(wait_forever());
  await_in_line();
  waiting.pending.cancel();
  EXPECT_EQ(noted->await<refused_event>().refusal.reason, refusal_reason::stopped);
  EXPECT_GT(noted->await<waited_event>().waited, 0s);
}

}  // namespace
}  // namespace rowlock::tests
