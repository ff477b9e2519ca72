// The cases of the reactive lock, on each engine.
#include "origins/reactive_lock/reactive_lock.hpp"

#include <asio/co_spawn.hpp>
#include <asio/use_future.hpp>
#include <future>
#include <string>
#include <vector>

#include "origins/support/origin_test.hpp"

namespace origins {
namespace {

using fault = rowlock::faulty_store::call;
using pauses = std::vector<std::chrono::milliseconds>;

class ReactiveLock : public origin_test {
 protected:
  /// How an acquisition ended.
  struct end {
    bool is_acquired = false;
    std::string error = {};
    std::string cause = {};
  };

  static end end_of(const std::exception_ptr& thrown, bool is_acquired) {
    end told{.is_acquired = is_acquired};
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const lock_acquire_error& failure) {
      told.error = failure.what();
      try {
        std::rethrow_if_nested(failure);
      } catch (const std::exception& cause) {
        told.cause = cause.what();
      }
    }
    return told;
  }

  end acquire(const std::string& key = "a") {
    std::promise<end> ended;
    lock_.try_acquire(key, [&](const std::exception_ptr& thrown, bool is_acquired) {
      ended.set_value(end_of(thrown, is_acquired));
    });
    return ended.get_future().get();
  }
  bool release(const std::string& key = "a") {
    std::promise<bool> ended;
    lock_.release(key, [&](bool is_done) { ended.set_value(is_done); });
    return ended.get_future().get();
  }
  end acquire_in_coroutine() {
    asio::io_context io;
    auto ended = asio::co_spawn(io, lock_.try_acquire("a"), asio::use_future);
    io.run();
    try {
      return end_of(nullptr, ended.get());
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
  const auto told = acquire();
  EXPECT_FALSE(told.is_acquired);
  EXPECT_EQ(told.error, "Failed to acquire lock a");
  EXPECT_NE(told.cause.find("try again later"), std::string::npos) << told.cause;
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
  const auto told = acquire();
  EXPECT_EQ(told.error, "Failed to acquire lock a");
  EXPECT_NE(told.cause.find("is held by theirs"), std::string::npos) << told.cause;
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

// The edges of its behaviour.

TEST_P(ReactiveLock, PausesDoubleWithinASecondInAll) {
  let_exist();
  EXPECT_FALSE(acquire().is_acquired);
  EXPECT_EQ(paused_, (pauses{50ms, 100ms, 200ms, 400ms, 250ms}));
}

TEST_P(ReactiveLock, OfAKeyThatCannotBeFailsAtOnce) {
  const auto told = acquire(std::string(256, 'x'));
  EXPECT_FALSE(told.error.empty());
  EXPECT_NE(told.cause.find("more than 255"), std::string::npos) << told.cause;
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
  EXPECT_EQ(ended.get_future().get(), 7);
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
  EXPECT_THROW((void)ended.get_future().get(), std::domain_error);
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
  EXPECT_THROW((void)ended.get_future().get(), lock_acquire_error);
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
  io.run();
  EXPECT_EQ(good.get(), 7);
  EXPECT_FALSE(is_held(row_));
  io.restart();
  auto bad = asio::co_spawn(io, lock_.execute_with_lock("a", -1, operation), asio::use_future);
  io.run();
  EXPECT_THROW((void)bad.get(), std::domain_error);
  EXPECT_FALSE(is_held(row_));
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

TEST_P(ReactiveLock, TellsAHolderThatItsMarkerHasExpired) {
  ASSERT_TRUE(acquire().is_acquired);
  const auto mine = lock_.held("a");
  EXPECT_TRUE(mine->is_valid());
  std::promise<void> lost;
  const std::stop_callback telling{mine->lost(), [&] { lost.set_value(); }};
  clock_->advance(60s);
  lost.get_future().get();
  EXPECT_FALSE(mine->is_valid());
}

TEST_P(ReactiveLock, HasATokenThatRisesWithEachHolder) {
  ASSERT_TRUE(acquire().is_acquired);
  const auto first = lock_.held("a")->token();
  ASSERT_TRUE(release());
  ASSERT_TRUE(acquire().is_acquired);
  EXPECT_GT(lock_.held("a")->token(), first);
}

TEST_P(ReactiveLock, ReleasesInTheBackgroundWhatItCouldNotReleaseAtOnce) {
  ASSERT_TRUE(acquire().is_acquired);
  faulty_.next_is_unavailable(fault::release);
  ASSERT_FALSE(release());
  while (is_held(row_)) clock_->advance(100ms);
}

INSTANTIATE_TEST_SUITE_P(Engines, ReactiveLock, testing::ValuesIn(engines()), name_of);

}  // namespace
}  // namespace origins
