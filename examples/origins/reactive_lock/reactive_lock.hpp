// A pessimistic lock whose calls do not block, as callbacks and as coroutines.
#ifndef ROWLOCK_EXAMPLES_ORIGINS_REACTIVE_LOCK_REACTIVE_LOCK_HPP
#define ROWLOCK_EXAMPLES_ORIGINS_REACTIVE_LOCK_REACTIVE_LOCK_HPP

#include <algorithm>
#include <asio/async_result.hpp>
#include <asio/awaitable.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <chrono>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

#include "origins/support/log.hpp"
#include "rowlock/async.hpp"
#include "rowlock/error.hpp"
#include "rowlock/lock_table.hpp"

namespace origins {

/// The key could not be locked; the cause is nested.
class lock_acquire_error : public std::runtime_error {
 public:
  explicit lock_acquire_error(const std::string& key)
      : std::runtime_error{"Failed to acquire lock " + key} {}
};

/// Another holder has the key.
class key_exists : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct reactive_lock_options {
  /// The holder's label in the row.
  std::string marker = "lock";
  /// The marker frees itself after this time, against locks that hang.
  std::chrono::seconds expiration{60};
  std::string name_space = "default";
  std::string set = "locks";
  /// The first pause between tries; each is twice the one before.
  std::chrono::milliseconds first_backoff{50};
  /// No try starts later than this.
  std::chrono::milliseconds longest_retry{1000};
  /// What the original could not promise: the marker is renewed as long as its process lives.
  bool renew = false;
  std::shared_ptr<rowlock::time_source> time = rowlock::system_time();
};

/// Runs the continuation after the pause, in any thread.
using scheduler = std::function<void(std::chrono::milliseconds, std::function<void()>)>;

/// A scheduler with timers of Asio.
inline scheduler timers_of(asio::io_context& io) {
  return [&io](std::chrono::milliseconds pause, std::function<void()> then) {
    const auto timer = std::make_shared<asio::steady_timer>(io, pause);
    timer->async_wait([timer, then = std::move(then)](const std::error_code& stopped) {
      if (!stopped) then();
    });
  };
}

/// Callbacks run in threads of the lock, or of the scheduler; coroutines on their own executor. No
/// call may be under way when it is destroyed.
class reactive_lock {
 public:
  /// Exactly one of the two is set.
  using acquired_callback = std::function<void(std::exception_ptr, bool)>;
  using released_callback = std::function<void(bool)>;

  reactive_lock(rowlock::store& rows, scheduler pauses, log_sink log,
                reactive_lock_options options = {})
      : options_{std::move(options)},
        after_{std::move(pauses)},
        log_{std::move(log)},
        locks_{rows,
               {.ttl = options_.expiration,
                .renew = options_.renew,
                .holder = options_.marker,
                .time = options_.time}} {}

  /// Writes the marker if there is none. Faults and a key that exists are both tried again; after
  /// the last try, and for an error that no other try can mend, `lock_acquire_error`.
  void try_acquire(const std::string& key, acquired_callback done) {
    try_once(std::make_shared<attempt>(
        attempt{key, std::move(done), options_.first_backoff, options_.time->now()}));
  }
  asio::awaitable<bool> try_acquire(std::string key) {
    return awaited([this, key](auto done) { try_acquire(key, std::move(done)); });
  }

  /// Deletes the marker. True also if there is none. A fault is a warning, and false.
  void release(const std::string& key, released_callback done) {
    auto held = take(key);
    if (!held) return done(true);
    rowlock::start_release(*std::move(held), {},
                           [this, key, done = std::move(done)](rowlock::release_result result) {
                             // What the original could not promise: `lost` leaves the marker of a
                             // successor alone, and a release that failed is tried again in the
                             // background.
                             const bool is_done = result != rowlock::release_result::deferred;
                             if (!is_done)
                               log_(log_level::warning, "Failed to release lock " + key);
                             done(is_done);
                           });
  }
  asio::awaitable<bool> release(std::string key) {
    return awaited([this, key](auto done) {
      release(key, [done = std::move(done)](bool is_done) { done(nullptr, is_done); });
    });
  }

  /// Locks, runs the operation on the data, and unlocks whether or not it failed. The operation
  /// gets a callback for its end, which takes what it threw and its result.
  template <class Result, class Data>
  void execute_with_lock(
      const std::string& key, Data data,
      std::function<void(const Data&, std::function<void(std::exception_ptr, Result)>)> operation,
      std::function<void(std::exception_ptr, Result)> done) {
    try_acquire(key, [=, this, data = std::move(data)](const std::exception_ptr& fault, bool) {
      if (fault) return done(fault, Result{});
      const auto end = [this, key, done](const std::exception_ptr& thrown, Result result) {
        release(key, [done, thrown, result](bool) { done(thrown, result); });
      };
      try {
        operation(data, end);
      } catch (...) {
        end(std::current_exception(), Result{});
      }
    });
  }
  /// The operation is a coroutine: it returns an `asio::awaitable`.
  template <class Data, class Operation>
  auto execute_with_lock(std::string key, Data data, Operation operation)
      -> std::invoke_result_t<Operation&, const Data&> {
    co_await try_acquire(key);
    std::optional<typename std::invoke_result_t<Operation&, const Data&>::value_type> result;
    std::exception_ptr thrown;
    try {
      result.emplace(co_await operation(data));
    } catch (...) {
      thrown = std::current_exception();
    }
    co_await release(key);
    if (thrown) std::rethrow_exception(thrown);
    co_return *std::move(result);
  }

  // What the original could not promise.

  /// Of a key that this object has locked: for its token, and for `lost()`. Throws
  /// `std::out_of_range` for any other key.
  [[nodiscard]] std::shared_ptr<const rowlock::lease> held(const std::string& key) const {
    const std::scoped_lock lock{mutex_};
    return held_.at(key);
  }

 private:
  struct attempt {
    std::string key;
    acquired_callback done;
    std::chrono::milliseconds next_pause;
    rowlock::boot_clock::time_point began;
  };

  [[nodiscard]] rowlock::lock_key row_of(const std::string& key) const {
    return {options_.set, rowlock::source_id_of({options_.name_space, key})};
  }

  void try_once(const std::shared_ptr<attempt>& trying) {
    try {
      rowlock::start_acquire(locks_, row_of(trying->key), {},
                             [this, trying](auto end) { end_try(trying, std::move(end)); });
    } catch (const rowlock::error&) {  // nothing was sent
      fail(*trying, std::current_exception());
    }
  }

  void end_try(const std::shared_ptr<attempt>& trying, rowlock::acquire_end end) {
    if (end.fault) return retry(trying, end.fault, may_pass(end.fault));
    if (!end.answer->acquired()) {
      std::ostringstream why;
      why << end.answer->refusal();
      return retry(trying, std::make_exception_ptr(key_exists{why.str()}), true);
    }
    {
      const std::scoped_lock lock{mutex_};
      held_[trying->key] = std::make_shared<rowlock::lease>(**std::move(end.answer));
    }
    trying->done(nullptr, true);
  }

  void retry(const std::shared_ptr<attempt>& trying, const std::exception_ptr& cause,
             bool is_retryable) {
    using std::chrono::milliseconds;
    const auto spent =
        std::chrono::duration_cast<milliseconds>(options_.time->now() - trying->began);
    const auto pause = std::min(trying->next_pause, options_.longest_retry - spent);
    if (!is_retryable || pause <= milliseconds::zero()) return fail(*trying, cause);
    trying->next_pause *= 2;
    after_(pause, [this, trying] { try_once(trying); });
  }

  void fail(const attempt& failed, const std::exception_ptr& cause) {
    const lock_acquire_error failure{failed.key};
    log_(log_level::warning, failure.what());
    try {
      try {
        std::rethrow_exception(cause);
      } catch (...) {
        std::throw_with_nested(failure);
      }
    } catch (...) {
      failed.done(std::current_exception(), false);
    }
  }

  static bool may_pass(const std::exception_ptr& fault) {
    try {
      std::rethrow_exception(fault);
    } catch (const rowlock::error& thrown) {
      return thrown.kind() == rowlock::errc::unavailable ||
             thrown.kind() == rowlock::errc::outcome_unknown;
    } catch (...) {
      return false;
    }
  }

  std::optional<rowlock::lease> take(const std::string& key) {
    const std::scoped_lock lock{mutex_};
    const auto found = held_.find(key);
    if (found == held_.end()) return std::nullopt;
    auto lease = std::move(*found->second);
    held_.erase(found);
    return lease;
  }

  /// The callback form as a coroutine, which goes on on its own executor.
  template <class Start>
  static asio::awaitable<bool> awaited(Start start) {
    auto initiate = [](auto handler, Start begin) {
      const auto executor = asio::get_associated_executor(handler);
      const auto kept = std::make_shared<decltype(handler)>(std::move(handler));
      begin([kept, work = asio::make_work_guard(executor)](std::exception_ptr thrown, bool result) {
        asio::post(work.get_executor(), [kept, thrown, result] { (*kept)(thrown, result); });
      });
    };
    return asio::async_initiate<const asio::use_awaitable_t<>, void(std::exception_ptr, bool)>(
        initiate, asio::use_awaitable, std::move(start));
  }

  const reactive_lock_options options_;
  const scheduler after_;
  const log_sink log_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<rowlock::lease>> held_;  // guarded by mutex_
  rowlock::lock_table locks_;  // its destructor ends all calls that use the members above
};

}  // namespace origins

#endif
