// A database that goes away while a caller waits.
#ifndef ROWLOCK_TESTS_WAIT_OUTAGE_TEST_HPP
#define ROWLOCK_TESTS_WAIT_OUTAGE_TEST_HPP

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "rowlock/error.hpp"
#include "rowlock/lock_table.hpp"
#include "support/caught_error.hpp"
#include "support/clock_of_waiters.hpp"
#include "support/hooked_store.hpp"
#include "support/patience.hpp"
#include "support/recording_observer.hpp"

namespace rowlock::tests {

using namespace std::chrono_literals;

class OutageTest : public testing::Test {
 protected:
  using attempt = std::future<outcome<lease>>;

  OutageTest() {
    for (const auto* operation : {"acquire", "acquire_all", "acquire_any", "watch", "prepare"}) {
      rows_.before(operation, [this] {
        ++attempts_;
        if (is_away_) throw error{errc::unavailable, "the server is away: wait"};
      });
    }
  }

  template <class Call>
  static auto begin(Call call) {
    return std::async(std::launch::async, std::move(call));
  }
  attempt waiter(const retry_policy& wait, const lock_key& key = {"job", "a"}) {
    return begin([this, wait, key] { return ours_->try_acquire(key, {.wait = wait}); });
  }
  lease theirs(const std::string& id = "a") { return *theirs_.try_acquire({"job", id}); }

  template <class Result>
  static bool is_over(const std::future<Result>& pending) {
    return pending.wait_for(1ms) == std::future_status::ready;
  }
  /// Moves the clock on until it is over.
  template <class Result>
  Result end_of(std::future<Result>& pending, std::chrono::milliseconds step = 10ms) {
    await_that([&] { return is_over(pending); }, [&] { time_->advance(step); });
    return pending.get();
  }
  template <class Result>
  std::optional<errc> fault_of(std::future<Result>& pending) {
    return kind_thrown_by([&] { (void)end_of(pending, 100ms); });
  }
  /// Of waits that last until then. The clock goes no further: a wait whose last try is not
  /// answered within two seconds ends with another fault.
  template <class Results>
  std::vector<std::optional<errc>> faults_at(boot_clock::time_point end, Results& pending) {
    time_->advance(end - time_->now());
    std::vector<std::optional<errc>> faults;
    for (auto& each : pending) {
      await_answer(each, {});
      faults.push_back(kind_thrown_by([&] { (void)each.get(); }));
    }
    return faults;
  }
  /// Moves the clock on until so many more attempts have failed.
  void let_attempts_fail(std::size_t count) {
    const auto until = attempts_ + count;
    await_that([&] { return attempts_ >= until; }, [this] { time_->advance(10ms); });
  }

  std::atomic<bool> is_away_{false};
  std::atomic<std::size_t> attempts_{0};
  std::shared_ptr<manual_time> time_ = std::make_shared<manual_time>();
  std::shared_ptr<clock_of_waiters> clock_ = std::make_shared<clock_of_waiters>(time_);
  hooked_store rows_{time_};
  std::shared_ptr<recording_observer> observer_ = std::make_shared<recording_observer>();
  lock_table theirs_{rows_.rows(), {.ttl = 24h, .holder = "theirs", .time = time_}};
  std::optional<lock_table> ours_{std::in_place, rows_,
                                  lock_options{.ttl = 24h, .time = clock_, .observer = observer_}};
};

}  // namespace rowlock::tests

#endif
