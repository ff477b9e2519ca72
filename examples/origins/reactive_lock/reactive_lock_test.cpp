// The cases of the reactive lock, on each engine.
#include "origins/reactive_lock/reactive_lock.hpp"

#include <algorithm>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_future.hpp>
#include <atomic>
#include <future>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <variant>
#include <vector>

#include "origins/support/events.hpp"
#include "origins/support/origin_test.hpp"
#include "origins/support/waits.hpp"
#include "rowlock/port/passing_store.hpp"

namespace origins {
namespace {

using fault = rowlock::faulty_store::call;
using pauses = std::vector<std::chrono::milliseconds>;
using asio::experimental::awaitable_operators::operator||;

/// Makes acquisitions wait until it is opened.
class gated_store final : public rowlock::passing_store {
 public:
  explicit gated_store(rowlock::store& target) : passing_store{target} {}

  void wait_for_acquisition() { value_of(entered_); }
  void open() { gate_.set_value(); }

 protected:
  void pass(rowlock::store_call made, rowlock::work_on_store work) override {
    if (made == rowlock::store_call::acquire) {
      if (!has_entered_.exchange(true)) entered_.set_value();
      opened_.wait_for(rowlock::tests::patience);
    }
    passing_store::pass(made, work);
  }

 private:
  std::atomic<bool> has_entered_ = false;
  std::promise<void> entered_;
  std::promise<void> gate_;
  const std::shared_future<void> opened_ = gate_.get_future().share();
};

/// Ends when the timer is cancelled.
asio::awaitable<void> cancellation_of(asio::steady_timer& timer) {
  std::error_code ignored;
  co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

asio::awaitable<void> at_once() { co_await asio::post(asio::use_awaitable); }

void no_pause(std::chrono::milliseconds /*pause*/, const std::function<void()>& /*then*/) {
  ADD_FAILURE() << "no try is to follow";
}
void no_log(log_level /*level*/, const std::string& /*text*/) {}

class ReactiveLock : public origin_test {
 protected:
  /// How an acquisition ended.
  struct end {
    bool is_acquired = false;
    std::string error = {};
    std::string cause = {};
  };

  static end end_of(const std::exception_ptr& thrown, bool is_acquired) {
    end how{.is_acquired = is_acquired};
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const lock_acquire_error& failure) {
      how.error = failure.what();
      try {
        std::rethrow_if_nested(failure);
      } catch (const std::exception& cause) {
        how.cause = cause.what();
      }
    }
    return how;
  }

  end acquire(const std::string& key = "a") { return acquire(lock_, key); }
  static end acquire(reactive_lock& locks, const std::string& key = "a") {
    std::promise<end> ended;
    locks.try_acquire(key, [&](const std::exception_ptr& thrown, bool is_acquired) {
      ended.set_value(end_of(thrown, is_acquired));
    });
    return value_of(ended);
  }
  /// Whether this object has the key, or gets it in time.
  bool comes_to_hold(const std::string& key = "a") {
    return comes([&] {
      try {
        (void)lock_.token(key);
        return true;
      } catch (const std::out_of_range&) {
        return false;
      }
    });
  }
  bool release(const std::string& key = "a") { return release(lock_, key); }
  static bool release(reactive_lock& locks, const std::string& key = "a") {
    std::promise<bool> ended;
    locks.release(key, [&](bool is_done) { ended.set_value(is_done); });
    return value_of(ended);
  }
  end acquire_in_coroutine() {
    asio::io_context io;
    auto ended = asio::co_spawn(io, lock_.try_acquire("a"), asio::use_future);
    io.run_for(rowlock::tests::patience);
    try {
      return end_of(nullptr, value_of(std::move(ended)));
    } catch (...) {
      return end_of(std::current_exception(), false);
    }
  }

  /// Another holder has the marker, until as many pauses have begun.
  void let_exist(std::size_t until = 100) {
    theirs_.emplace(*rival_.try_acquire(row_));
    end_of_theirs_ = until;
  }
  void time_out(int times) {
    for (int i = 0; i < times; ++i) faulty_.next_is_unavailable(fault::acquire);
  }

  const rowlock::lock_key row_{"locks", "default/a"};
  rowlock::lock_table rival_{*rows_,
                             {.ttl = 1h, .renew = false, .holder = "theirs", .time = clock_}};
  std::optional<rowlock::lease> theirs_;
  std::size_t end_of_theirs_ = 0;
  pauses paused_;
  std::vector<std::string> warnings_;
  reactive_lock lock_{faulty_,
                      [this](std::chrono::milliseconds pause, const std::function<void()>& then) {
                        paused_.push_back(pause);
                        clock_->advance(pause);
                        if (theirs_ && paused_.size() == end_of_theirs_) theirs_->release();
                        then();
                      },
                      [this](log_level level, const std::string& text) {
                        if (level == log_level::warning) warnings_.push_back(text);
                      },
                      reactive_lock_options{.time = clock_}};
};

// The eight cases of the original.

TEST_P(ReactiveLock, FailsToAcquireWhenTimeoutsLastPastTheRetries) {
  time_out(20);
  const auto began = clock_->now();
  const auto ended = acquire();
  EXPECT_FALSE(ended.is_acquired);
  EXPECT_EQ(ended.error, "Failed to acquire lock a");
  EXPECT_NE(ended.cause.find("try again later"), std::string::npos) << ended.cause;
  EXPECT_LT(clock_->now() - began, 1001ms);
  EXPECT_EQ(warnings_, std::vector<std::string>{"Failed to acquire lock a"});
}

TEST_P(ReactiveLock, AcquiresAfterTimeoutTimeoutAndExists) {
  let_exist(3);
  time_out(2);
  EXPECT_TRUE(acquire().is_acquired);
  EXPECT_EQ(paused_, (pauses{50ms, 100ms, 200ms}));
}

TEST_P(ReactiveLock, FailsToAcquireWhenExistsLasts) {
  let_exist();
  const auto ended = acquire();
  EXPECT_EQ(ended.error, "Failed to acquire lock a");
  EXPECT_NE(ended.cause.find("is held by theirs"), std::string::npos) << ended.cause;
}

TEST_P(ReactiveLock, AcquiresWhenExistsEnds) {
  let_exist(2);
  EXPECT_TRUE(acquire().is_acquired);
  EXPECT_EQ(paused_, (pauses{50ms, 100ms}));
}

TEST_P(ReactiveLock, AcquiresAtOnce) {
  EXPECT_TRUE(acquire().is_acquired);
  EXPECT_TRUE(is_held(row_));
  EXPECT_EQ(paused_, pauses{});
}

TEST_P(ReactiveLock, ReleaseOfWhatDoesNotExistIsTrue) { EXPECT_TRUE(release()); }

TEST_P(ReactiveLock, ReleaseWithAnErrorIsFalse) {
  ASSERT_TRUE(acquire().is_acquired);
  faulty_.next_is_unavailable(fault::release);
  EXPECT_FALSE(release());
  EXPECT_EQ(warnings_, std::vector<std::string>{"Failed to release lock a"});
}

TEST_P(ReactiveLock, ReleaseSucceeds) {
  ASSERT_TRUE(acquire().is_acquired);
  EXPECT_TRUE(release());
  EXPECT_FALSE(is_held(row_));
}

TEST_P(ReactiveLock, IsConfiguredByMarkerNamespaceSetAndExpiration) {
  reactive_lock locks{*rows_,
                      no_pause,
                      no_log,
                      {.marker = "billing",
                       .expiration = 2h,
                       .name_space = "accounts",
                       .set = "ledger",
                       .time = clock_}};
  ASSERT_TRUE(acquire(locks).is_acquired);
  EXPECT_FALSE(is_held(row_)) << "the defaults";
  const rowlock::lock_key configured{"ledger", "accounts/a"};
  ASSERT_TRUE(is_held(configured));
  const auto marker = row(configured);
  EXPECT_EQ(marker->holder, "billing");
  EXPECT_GT(*marker->remaining, 1h);
  EXPECT_LE(*marker->remaining, 2h);
}

// The edges of its behaviour.

TEST_P(ReactiveLock, PausesDoubleAndNoneBeginsThatWouldEndAfterASecond) {
  let_exist();
  EXPECT_FALSE(acquire().is_acquired);
  EXPECT_EQ(paused_, (pauses{50ms, 100ms, 200ms, 400ms}));
}

TEST_P(ReactiveLock, WithoutABackoffTriesOnce) {
  let_exist();
  reactive_lock locks{faulty_, no_pause, no_log, {.first_backoff = 0ms, .time = clock_}};
  EXPECT_EQ(acquire(locks).error, "Failed to acquire lock a");
}

TEST_P(ReactiveLock, OfAKeyThatCannotBeFailsAtOnce) {
  const auto ended = acquire(std::string(256, 'x'));
  EXPECT_FALSE(ended.error.empty());
  EXPECT_NE(ended.cause.find("more than 255"), std::string::npos) << ended.cause;
  EXPECT_EQ(paused_, pauses{});
}

TEST_P(ReactiveLock, ExpiresWhenItsHolderHangs) {
  ASSERT_TRUE(acquire().is_acquired);
  bench_->run_out(row_);
  EXPECT_TRUE(rival_.try_acquire(row_).acquired());
}

TEST_P(ReactiveLock, RunsAnOperationUnderTheLockAndHandsItsResultOn) {
  std::promise<int> ended;
  lock_.execute_with_lock<int, std::string>(
      "a", "data",
      [&](const std::string& data, const std::function<void(std::exception_ptr, int)>& done) {
        done(nullptr, data == "data" && is_held(row_) ? 7 : 0);
      },
      [&](const std::exception_ptr&, int result) { ended.set_value(result); });
  EXPECT_EQ(value_of(ended), 7);
  EXPECT_FALSE(is_held(row_));
}

TEST_P(ReactiveLock, ReleasesWhenTheOperationFails) {
  std::promise<int> ended;
  lock_.execute_with_lock<int, std::string>(
      "a", "data",
      [](const std::string&, const std::function<void(std::exception_ptr, int)>&) {
        throw std::domain_error{"failed"};
      },
      [&](std::exception_ptr thrown, int) { ended.set_exception(std::move(thrown)); });
  EXPECT_THROW((void)value_of(ended), std::domain_error);
  EXPECT_FALSE(is_held(row_));
}

TEST_P(ReactiveLock, DoesNotRunTheOperationWithoutTheLock) {
  let_exist();
  std::promise<int> ended;
  bool has_run = false;
  lock_.execute_with_lock<int, std::string>(
      "a", "data",
      [&](const std::string&, const std::function<void(std::exception_ptr, int)>&) {
        has_run = true;
      },
      [&](std::exception_ptr thrown, int) { ended.set_exception(std::move(thrown)); });
  EXPECT_THROW((void)value_of(ended), lock_acquire_error);
  EXPECT_FALSE(has_run);
}

TEST_P(ReactiveLock, InACoroutineDoesTheSame) {
  EXPECT_TRUE(acquire_in_coroutine().is_acquired);
  EXPECT_TRUE(release());
  let_exist();
  EXPECT_EQ(acquire_in_coroutine().error, "Failed to acquire lock a");
  theirs_->release();
  time_out(2);
  paused_.clear();
  EXPECT_TRUE(acquire_in_coroutine().is_acquired);
  EXPECT_EQ(paused_, (pauses{50ms, 100ms}));
}

TEST_P(ReactiveLock, RunsACoroutineUnderTheLock) {
  asio::io_context io;
  const auto operation = [&](const int& data) -> asio::awaitable<int> {
    if (data < 0) throw std::domain_error{"failed"};
    co_return is_held(row_) ? data : 0;
  };
  auto good = asio::co_spawn(io, lock_.execute_with_lock("a", 7, operation), asio::use_future);
  io.run_for(rowlock::tests::patience);
  EXPECT_EQ(value_of(std::move(good)), 7);
  EXPECT_FALSE(is_held(row_));
  io.restart();
  auto bad = asio::co_spawn(io, lock_.execute_with_lock("a", -1, operation), asio::use_future);
  io.run_for(rowlock::tests::patience);
  EXPECT_THROW((void)value_of(std::move(bad)), std::domain_error);
  EXPECT_FALSE(is_held(row_));
}

TEST_P(ReactiveLock, RunsACoroutineWithoutAResultUnderTheLock) {
  asio::io_context io;
  bool was_held = false;
  const auto operation = [&](const int& data) -> asio::awaitable<void> {
    if (data < 0) throw std::domain_error{"failed"};
    was_held = is_held(row_);
    co_return;
  };
  auto good = asio::co_spawn(io, lock_.execute_with_lock("a", 7, operation), asio::use_future);
  io.run_for(rowlock::tests::patience);
  value_of(std::move(good));
  EXPECT_TRUE(was_held);
  EXPECT_FALSE(is_held(row_));
  io.restart();
  auto bad = asio::co_spawn(io, lock_.execute_with_lock("a", -1, operation), asio::use_future);
  io.run_for(rowlock::tests::patience);
  EXPECT_THROW(value_of(std::move(bad)), std::domain_error);
  EXPECT_FALSE(is_held(row_));
}

TEST_P(ReactiveLock, EndsAnOperationWhoseKeyAnotherThreadReleases) {
  constexpr int operations = 100;
  std::mutex releasing;
  const std::jthread other{[&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      {
        const std::scoped_lock until_it_has_ended{releasing};
        EXPECT_TRUE(release());
      }
      std::this_thread::yield();
    }
  }};
  for (int i = 0; i < operations; ++i) {
    // Pauses take no time here: all tries would meet a release that has not ended.
    { const std::scoped_lock has_ended{releasing}; }
    std::promise<int> ended;
    lock_.execute_with_lock<int, int>(
        "a", i,
        [](const int& data, const std::function<void(std::exception_ptr, int)>& done) {
          done(nullptr, data);
        },
        [&](const std::exception_ptr& thrown, int result) {
          if (thrown) return ended.set_exception(thrown);
          ended.set_value(result);
        });
    ASSERT_EQ(value_of(ended), i);
  }
}

TEST_P(ReactiveLock, RunsACoroutineWhoseKeyAnotherThreadReleasesBefore) {
  asio::io_context io;
  const auto operation = [](const int& data) -> asio::awaitable<int> { co_return data; };
  auto ended = asio::co_spawn(io, lock_.execute_with_lock("a", 7, operation), asio::use_future);
  io.poll();  // begins the try, whose end the coroutine does not get yet
  ASSERT_TRUE(comes_to_hold());
  ASSERT_TRUE(release());
  io.run_for(rowlock::tests::patience);
  EXPECT_EQ(value_of(std::move(ended)), 7);
}

TEST_P(ReactiveLock, OfACoroutineLeavesAGrantAloneThatAnotherThreadGotBefore) {
  asio::io_context io;
  const auto operation = [](const int& data) -> asio::awaitable<int> { co_return data; };
  auto ended = asio::co_spawn(io, lock_.execute_with_lock("a", 7, operation), asio::use_future);
  io.poll();
  ASSERT_TRUE(comes_to_hold());
  ASSERT_TRUE(release());
  ASSERT_TRUE(acquire().is_acquired);
  io.run_for(rowlock::tests::patience);
  EXPECT_EQ(value_of(std::move(ended)), 7);
  EXPECT_TRUE(is_held(row_)) << "by the other grant";
}

TEST_P(ReactiveLock, OfACancelledTryLeavesAGrantAloneThatAnotherThreadGotBefore) {
  asio::io_context io;
  asio::cancellation_signal cancel;
  auto ended = asio::co_spawn(io, lock_.try_acquire("a"),
                              asio::bind_cancellation_slot(cancel.slot(), asio::use_future));
  io.poll();
  ASSERT_TRUE(comes_to_hold());
  ASSERT_TRUE(release());
  ASSERT_TRUE(acquire().is_acquired);
  cancel.emit(asio::cancellation_type::terminal);
  io.run_for(rowlock::tests::patience);
  EXPECT_THROW((void)value_of(std::move(ended)), asio::system_error);
  EXPECT_TRUE(is_held(row_)) << "by the other grant";
}

TEST_P(ReactiveLock, ReleasesWhenTheCoroutineUnderItIsCancelled) {
  asio::io_context io;
  asio::steady_timer begun{io, asio::steady_timer::time_point::max()};
  const auto operation = [&](const int& data) -> asio::awaitable<int> {
    EXPECT_TRUE(is_held(row_));
    begun.cancel();
    asio::steady_timer never{io, asio::steady_timer::time_point::max()};
    co_await never.async_wait(asio::use_awaitable);
    co_return data;
  };
  auto ended = asio::co_spawn(
      io, lock_.execute_with_lock("a", 7, operation) || cancellation_of(begun), asio::use_future);
  io.run_for(rowlock::tests::patience);
  EXPECT_EQ(value_of(std::move(ended)).index(), 1U);
  EXPECT_FALSE(is_held(row_));
}

TEST_P(ReactiveLock, LeavesNoLockBehindACancelledTry) {
  gated_store gated{*rows_};
  reactive_lock locks{gated, no_pause, no_log, {.time = clock_}};
  asio::io_context io;
  auto ended = asio::co_spawn(io, locks.try_acquire("a") || at_once(), asio::use_future);
  io.poll();  // until the try waits and has been cancelled
  gated.open();
  io.run_for(rowlock::tests::patience);
  EXPECT_EQ(value_of(std::move(ended)).index(), 1U);
  EXPECT_FALSE(is_held(row_));
}

TEST_P(ReactiveLock, DoesNotRunTheOperationOfACancelledTry) {
  gated_store gated{*rows_};
  reactive_lock locks{gated, no_pause, no_log, {.time = clock_}};
  bool has_run = false;
  const auto operation = [&](const int& data) -> asio::awaitable<int> {
    has_run = true;
    co_return data;
  };
  asio::io_context io;
  asio::cancellation_signal cancel;
  auto ended = asio::co_spawn(io, locks.execute_with_lock("a", 7, operation),
                              asio::bind_cancellation_slot(cancel.slot(), asio::use_future));
  io.poll();
  cancel.emit(asio::cancellation_type::terminal);
  gated.open();
  io.run_for(rowlock::tests::patience);
  EXPECT_THROW((void)value_of(std::move(ended)), asio::system_error);
  EXPECT_FALSE(has_run);
  EXPECT_FALSE(is_held(row_));
}

TEST_P(ReactiveLock, GoesOnInTheThreadOfTheCoroutine) {
  asio::io_context io;
  auto ended = asio::co_spawn(
      io,
      [&]() -> asio::awaitable<std::thread::id> {
        co_await lock_.try_acquire("a");
        co_return std::this_thread::get_id();
      },
      asio::use_future);
  io.run_for(rowlock::tests::patience);
  EXPECT_EQ(value_of(std::move(ended)), std::this_thread::get_id());
}

TEST_P(ReactiveLock, OfAnOperationThatEndsAndThrowsEndsOnce) {
  std::promise<std::string> ended;
  std::atomic<int> ends = 0;
  {
    reactive_lock locks{faulty_, no_pause, no_log, {.time = clock_}};
    locks.execute_with_lock<std::string, int>(
        "a", 7,
        [](const int&, const std::function<void(std::exception_ptr, std::string)>& done) {
          done(nullptr, "first");
          throw std::domain_error{"second"};
        },
        [&](const std::exception_ptr& thrown, const std::string& result) {
          if (++ends == 1) ended.set_value(thrown ? "thrown" : result);
        });
    EXPECT_EQ(value_of(ended), "first");
  }  // no callback comes after this
  EXPECT_EQ(ends, 1);
}

TEST_P(ReactiveLock, WithALogThatThrowsChangesNothing) {
  reactive_lock locks{faulty_,
                      [this](std::chrono::milliseconds pause, const std::function<void()>& then) {
                        clock_->advance(pause);
                        then();
                      },
                      [](log_level, const std::string&) { throw std::domain_error{"log is full"}; },
                      {.time = clock_}};
  let_exist();
  EXPECT_EQ(acquire(locks).error, "Failed to acquire lock a");
  theirs_->release();
  ASSERT_TRUE(acquire(locks).is_acquired);
  faulty_.next_is_unavailable(fault::release);
  EXPECT_FALSE(release(locks));
}

TEST_P(ReactiveLock, IsReleasedWhenTheCallbackThatWasToGetItThrows) {
  std::promise<std::string> warned;
  reactive_lock locks{faulty_,
                      no_pause,
                      [&](log_level, const std::string& text) { warned.set_value(text); },
                      {.time = clock_}};
  locks.try_acquire(
      "a", [](const std::exception_ptr&, bool) { throw std::domain_error{"not prepared"}; });
  EXPECT_EQ(value_of(warned), "A callback threw, of lock a");
  EXPECT_TRUE(comes([&] { return !is_held(row_); }));
}

TEST_P(ReactiveLock, CallbacksThatThrowAtTheEndAreWarnings) {
  std::promise<void> warned_twice;
  std::atomic<int> warnings = 0;
  reactive_lock locks{faulty_,
                      no_pause,
                      [&](log_level, const std::string&) {
                        if (++warnings == 2) warned_twice.set_value();
                      },
                      {.time = clock_}};
  locks.release("b", [](bool) { throw std::domain_error{"not prepared"}; });
  locks.execute_with_lock<int, int>(
      "a", 7,
      [](const int& data, const std::function<void(std::exception_ptr, int)>& done) {
        done(nullptr, data);
      },
      [](const std::exception_ptr&, int) { throw std::domain_error{"not prepared"}; });
  value_of(warned_twice);
  EXPECT_FALSE(is_held(row_));
}

// Its destructor.

TEST_P(ReactiveLock, DestroyedDuringAPauseEndsTheTry) {
  let_exist();
  std::promise<std::function<void()>> paused;
  std::vector<end> ends;
  std::optional<reactive_lock> locks;
  locks.emplace(
      faulty_,
      [&](std::chrono::milliseconds, std::function<void()> then) { paused.set_value(then); },
      no_log, reactive_lock_options{.time = clock_});
  locks->try_acquire("a", [&](const std::exception_ptr& thrown, bool is_acquired) {
    ends.push_back(end_of(thrown, is_acquired));
  });
  const auto then = value_of(paused);
  locks.reset();
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(ends.front().error, "Failed to acquire lock a");
  EXPECT_EQ(ends.front().cause, "the reactive_lock was destroyed");

  theirs_->release();
  then();
  EXPECT_EQ(ends.size(), 1U);
  EXPECT_FALSE(is_held(row_));
}

TEST_P(ReactiveLock, DestroyedDuringATryEndsIt) {
  gated_store gated{*rows_};
  std::vector<end> ends;
  std::optional<reactive_lock> locks;
  locks.emplace(
      gated,
      [&](std::chrono::milliseconds, const std::function<void()>&) {
        ADD_FAILURE() << "no try is to follow";
        gated.open();
      },
      no_log, reactive_lock_options{.time = clock_});
  locks->try_acquire("a", [&](const std::exception_ptr& thrown, bool is_acquired) {
    ends.push_back(end_of(thrown, is_acquired));
    gated.open();  // the try ends after its callback
  });
  gated.wait_for_acquisition();
  locks.reset();
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(ends.front().error, "Failed to acquire lock a");
  EXPECT_EQ(ends.front().cause, "the reactive_lock was destroyed");
  EXPECT_FALSE(is_held(row_));
}

TEST_P(ReactiveLock, DestroyedBeforeItsCoroutineGoesOnIsNotAcquired) {
  std::optional<reactive_lock> locks;
  locks.emplace(faulty_, no_pause, no_log, reactive_lock_options{.time = clock_});
  asio::io_context io;
  auto ended = asio::co_spawn(io, locks->try_acquire("a"), asio::use_future);
  io.poll();
  ASSERT_TRUE(comes([&] { return is_held(row_); }));
  locks.reset();
  io.run_for(rowlock::tests::patience);
  EXPECT_THROW((void)value_of(std::move(ended)), lock_acquire_error);
}

TEST_P(ReactiveLock, DestroyedDuringAnOperationStillHandsItsResultOn) {
  std::optional<reactive_lock> locks;
  locks.emplace(faulty_, no_pause, no_log, reactive_lock_options{.time = clock_});
  std::promise<std::function<void(std::exception_ptr, int)>> begun;
  std::promise<int> ended;
  locks->execute_with_lock<int, int>(
      "a", 7,
      [&](const int&, std::function<void(std::exception_ptr, int)> done) {
        begun.set_value(std::move(done));
      },
      [&](const std::exception_ptr&, int result) { ended.set_value(result); });
  const auto end_operation = value_of(begun);
  locks.reset();
  EXPECT_FALSE(is_held(row_));
  end_operation(nullptr, 7);
  EXPECT_EQ(value_of(ended), 7);
}

// What the original could not promise.

TEST_P(ReactiveLock, ReleaseLeavesTheMarkerOfASuccessorAlone) {
  ASSERT_TRUE(acquire().is_acquired);
  bench_->run_out(row_);
  const auto successor = rival_.try_acquire(row_);
  ASSERT_TRUE(successor.acquired());
  EXPECT_TRUE(release());
  EXPECT_TRUE(is_held(row_));
}

TEST_P(ReactiveLock, OfAnOperationThatOutlastsItsMarkerLeavesTheNextGrantAlone) {
  std::promise<std::function<void(std::exception_ptr, int)>> begun;
  std::promise<int> ended;
  lock_.execute_with_lock<int, int>(
      "a", 7,
      [&](const int&, std::function<void(std::exception_ptr, int)> done) {
        begun.set_value(std::move(done));
      },
      [&](const std::exception_ptr&, int result) { ended.set_value(result); });
  const auto end_operation = value_of(begun);
  bench_->run_out(row_);
  ASSERT_TRUE(acquire().is_acquired);
  end_operation(nullptr, 7);
  EXPECT_EQ(value_of(ended), 7);
  EXPECT_TRUE(is_held(row_));
}

TEST_P(ReactiveLock, NotifiesAHolderThatItsMarkerHasExpired) {
  ASSERT_TRUE(acquire().is_acquired);
  const auto lost = lock_.lost("a");
  EXPECT_FALSE(lost.stop_requested());
  std::promise<void> notified;
  const std::stop_callback notifying{lost, [&] { notified.set_value(); }};
  clock_->advance(60s);
  value_of(notified);
}

TEST_P(ReactiveLock, HasATokenThatRisesWithEachHolder) {
  ASSERT_TRUE(acquire().is_acquired);
  const auto first = lock_.token("a");
  ASSERT_TRUE(release());
  ASSERT_TRUE(acquire().is_acquired);
  EXPECT_GT(lock_.token("a"), first);
}

TEST_P(ReactiveLock, HasNoTokenOfAKeyThatItDoesNotHold) {
  EXPECT_THROW((void)lock_.token("a"), std::out_of_range);
  EXPECT_THROW((void)lock_.lost("a"), std::out_of_range);
  ASSERT_TRUE(acquire().is_acquired);
  ASSERT_TRUE(release());
  EXPECT_THROW((void)lock_.token("a"), std::out_of_range);
  EXPECT_THROW((void)lock_.lost("a"), std::out_of_range);
}

TEST_P(ReactiveLock, RenewsIfAskedFor) {
  hooked_client recorded{*rows_};
  reactive_lock renewing{recorded, no_pause, no_log, {.renew = true, .time = clock_}};
  ASSERT_TRUE(acquire(renewing).is_acquired);
  const auto lost = renewing.lost("a");
  ASSERT_TRUE(acquire("b").is_acquired);
  const auto lost_by_default = lock_.lost("b");
  for (int renewals = 1; renewals <= 3; ++renewals) {
    clock_->advance(21s);  // more than a third of the expiration
    ASSERT_TRUE(comes([&] {
      const auto made = recorded.made();
      return std::count(made.begin(), made.end(), rowlock::store_call::renew) >= renewals;
    }));
  }
  EXPECT_TRUE(comes([&] { return lost_by_default.stop_requested(); }));
  EXPECT_FALSE(lost.stop_requested());
}

TEST_P(ReactiveLock, ReleasesInTheBackgroundWhatItCouldNotReleaseAtOnce) {
  ASSERT_TRUE(acquire().is_acquired);
  faulty_.next_is_unavailable(fault::release);
  ASSERT_FALSE(release());
  EXPECT_TRUE(comes([&] { return !is_held(row_); }, [&] { clock_->advance(100ms); }));
}

INSTANTIATE_TEST_SUITE_P(Engines, ReactiveLock, testing::ValuesIn(engines()), name_of);

}  // namespace
}  // namespace origins
