// Coroutines that want keys, on an io_context that the test runs.
#ifndef ROWLOCK_TESTS_ASIO_ASIO_TEST_HPP
#define ROWLOCK_TESTS_ASIO_ASIO_TEST_HPP

#include <gtest/gtest.h>

#include <array>
#include <asio.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "rowlock/asio.hpp"
#include "support/hooked_store.hpp"

namespace rowlock::tests {

using namespace std::chrono_literals;

/// What became of a coroutine.
template <class Result>
struct spawned {
  bool is_over = false;
  std::exception_ptr thrown;
  std::optional<Result> result;
};

class asio_test : public testing::Test {
 protected:
  template <class Result>
  std::shared_ptr<spawned<Result>> spawn(asio::awaitable<Result> work,
                                         asio::cancellation_slot slot = {}) {
    auto ended = std::make_shared<spawned<Result>>();
    asio::co_spawn(*io_, keep<Result>(std::move(work), ended),
                   asio::bind_cancellation_slot(slot, [ended](std::exception_ptr thrown) {
                     ended->thrown = std::move(thrown);
                     ended->is_over = true;
                   }));
    return ended;
  }

  /// Runs the io_context until `condition` holds.
  template <class Condition>
  void run_until(const Condition& condition) {
    io_->restart();
    await_that(condition, [this] { io_->run_one_for(1ms); });
  }
  template <class Result>
  Result result_of(const std::shared_ptr<spawned<Result>>& work) {
    run_until([&] { return work->is_over; });
    if (work->thrown) std::rethrow_exception(work->thrown);
    return *std::move(work->result);
  }
  template <class Result>
  bool is_aborted(const std::shared_ptr<spawned<Result>>& work) {
    try {
      static_cast<void>(result_of(work));
    } catch (const asio::system_error& thrown) {
      return thrown.code() == asio::error::operation_aborted;
    }
    return false;
  }

  /// Returns once a refused waiter has read the row.
  void await_in_line() { rows_.await_one_more(*time_, "watch"); }
  lease theirs(const std::string& id = "a") { return *theirs_.try_acquire({"job", id}); }
  bool is_free(const std::string& id = "a") { return theirs_.try_acquire({"job", id}).acquired(); }
  row_state row(const std::string& id = "a") {
    return *rows_.rows().read(std::array{lock_key{"job", id}}).front();
  }
  static acquire_options waiting(const retry_policy& wait = wait_forever()) {
    return {.wait = wait};
  }

  const lock_key key_{"job", "a"};
  std::shared_ptr<manual_time> time_ = std::make_shared<manual_time>();
  hooked_store rows_{time_};
  lock_table theirs_{rows_.rows(), {.ttl = 1h, .holder = "theirs", .time = time_}};
  std::optional<lock_table> ours_{std::in_place, rows_, lock_options{.ttl = 1h, .time = time_}};
  std::optional<asio::io_context> io_{std::in_place};

 private:
  template <class Result>
  static asio::awaitable<void> keep(asio::awaitable<Result> work,
                                    std::shared_ptr<spawned<Result>> ended) {
    ended->result.emplace(co_await std::move(work));
  }
};

}  // namespace rowlock::tests

#endif
