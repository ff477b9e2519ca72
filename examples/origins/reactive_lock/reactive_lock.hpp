// A pessimistic lock whose calls do not block, as callbacks and as coroutines.
#ifndef ROWLOCK_EXAMPLES_ORIGINS_REACTIVE_LOCK_REACTIVE_LOCK_HPP
#define ROWLOCK_EXAMPLES_ORIGINS_REACTIVE_LOCK_REACTIVE_LOCK_HPP

#include <asio/async_result.hpp>
#include <asio/awaitable.hpp>
#include <asio/cancellation_type.hpp>
#include <asio/error.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <asio/system_error.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "origins/support/log.hpp"
#include "rowlock/async.hpp"
#include "rowlock/error.hpp"
#include "rowlock/lock_table.hpp"

namespace origins {

/// The key could not be locked. The exception that is being handled when this is made is nested.
class lock_acquire_error : public std::runtime_error, public std::nested_exception {
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
  /// The first pause between tries; each is twice the one before. Zero: a single try.
  std::chrono::milliseconds first_backoff{50};
  /// No pause begins that would end later than this after the first try began: 50 + 100 + 200 + 400
  /// ms, and no fifth.
  std::chrono::milliseconds longest_retry{1000};
  /// What the original could not promise: the marker is renewed as long as its process lives.
  bool renew = false;
  std::shared_ptr<rowlock::time_source> time = rowlock::system_time();
};

/// Runs the continuation after the pause, in any thread. Must not throw. A continuation that it
/// drops leaves its attempt to the destructor of the reactive_lock.
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

/// A lock on keys. An object is one holder: it has each key once. The store must outlive it.
///
/// All members may be called from any thread. A callback is called once, without a mutex held: by a
/// thread of the lock, or, if nothing was sent, by that of the call, the scheduler or the
/// destructor. It must not take long or destroy the lock. What it throws is a warning in the log;
/// if it was to get a key, the key is released. A log that throws changes nothing. A coroutine
/// continues on its own executor, whose context must outlive its calls.
///
/// The destructor releases all keys. During a try or a pause `try_acquire` ends with
/// `lock_acquire_error`: its callback is called before the destructor returns, and no other try
/// begins, even if the scheduler runs a continuation later. An operation may outlast the lock: its
/// key is lost, and its result is still handed on.
class reactive_lock {
 public:
  /// The flag is true unless the exception is set.
  using acquired_callback = std::function<void(std::exception_ptr, bool)>;
  using released_callback = std::function<void(bool)>;

  reactive_lock(rowlock::store& rows, scheduler pauses, log_sink log,
                reactive_lock_options options = {})
      : options_{std::move(options)},
        after_{std::move(pauses)},
        shared_{std::make_shared<shared_state>(std::move(log))},
        locks_{rows,
               {.ttl = options_.expiration,
                .renew = options_.renew,
                .holder = options_.marker,
                .time = options_.time}} {}
  ~reactive_lock() {
    for (const auto& each : shared_->close()) shared_->fail(*each, nullptr);
  }

  /// Writes the marker if there is none. Faults and a key that exists are both tried again; after
  /// the last try, and for an error that no other try can mend, `lock_acquire_error`.
  void try_acquire(const std::string& key, acquired_callback done) {
    start(key, [done = std::move(done)](std::exception_ptr fault, rowlock::version) {
      const bool is_acquired = !fault;
      done(std::move(fault), is_acquired);
    });
  }
  /// The same as a coroutine. A cancellation takes effect when the tries have ended: a key that was
  /// acquired is released, and `asio::system_error` (operation_aborted) is thrown.
  asio::awaitable<bool> try_acquire(std::string key) {
    co_await granted(std::move(key));
    co_return true;
  }

  /// Deletes the marker. True also if there is none. A fault is a warning, and false.
  void release(const std::string& key, released_callback done) {
    shared_->release(key, {}, [done = std::move(done)](auto, bool is_done) { done(is_done); });
  }
  asio::awaitable<bool> release(std::string key) { return released(shared_, std::move(key), {}); }

  /// Locks, runs the operation on the data, and unlocks whether or not it failed. The operation
  /// gets a callback for its end, which takes what it threw and its result. It must call that, or
  /// throw; what comes first counts. If another thread releases the key meanwhile, the operation
  /// goes on, and its end releases no later grant.
  template <class Result, class Data>
  void execute_with_lock(
      const std::string& key, Data data,
      std::function<void(const Data&, std::function<void(std::exception_ptr, Result)>)> operation,
      std::function<void(std::exception_ptr, Result)> done) {
    start(key, [=, shared = shared_, data = std::move(data)](std::exception_ptr fault,
                                                             rowlock::version mine) {
      if (fault) return done(std::move(fault), Result{});
      const auto is_over = std::make_shared<std::atomic_flag>();
      const auto end = [=](std::exception_ptr thrown, Result result) {
        if (is_over->test_and_set()) return;
        shared->release(key, mine,
                        [=](auto, bool) mutable { done(std::move(thrown), std::move(result)); });
      };
      try {
        operation(data, end);
      } catch (...) {
        end(std::current_exception(), Result{});
      }
    });
  }
  /// The operation is a coroutine: it returns an `asio::awaitable`, of void or of a result. If it
  /// is cancelled, the key is released, too. If Asio destroys it instead, the marker stays until it
  /// expires or the lock is destroyed.
  template <class Data, class Operation>
  auto execute_with_lock(std::string key, Data data, Operation operation)
      -> std::invoke_result_t<Operation&, const Data&> {
    using value = typename std::invoke_result_t<Operation&, const Data&>::value_type;
    const auto shared = shared_;
    const auto mine = co_await granted(key);
    std::optional<std::conditional_t<std::is_void_v<value>, std::monostate, value>> result;
    std::exception_ptr thrown;
    try {
      if constexpr (std::is_void_v<value>) {
        co_await operation(data);
      } else {
        result.emplace(co_await operation(data));
      }
    } catch (...) {
      thrown = std::current_exception();
    }
    // A cancelled coroutine has to release, too.
    const bool throws = co_await asio::this_coro::throw_if_cancelled();
    co_await asio::this_coro::throw_if_cancelled(false);
    co_await released(shared, key, mine);
    co_await asio::this_coro::throw_if_cancelled(throws);
    if (thrown) std::rethrow_exception(thrown);
    if constexpr (!std::is_void_v<value>) co_return *std::move(result);
  }

  // What the original could not promise. Both throw `std::out_of_range` for a key that this object
  // has not acquired, or has released.

  /// Rises with each holder of the key: fences writes.
  [[nodiscard]] rowlock::version token(const std::string& key) const { return shared_->token(key); }
  /// Requested when the marker has expired, or was taken away.
  [[nodiscard]] std::stop_token lost(const std::string& key) const {
    const std::scoped_lock lock{shared_->mutex};
    return shared_->held.at(key).lost();
  }

 private:
  /// If set, only that grant is meant, and not one that this object got after an expiration.
  using only_grant = std::optional<rowlock::version>;

  /// Takes the grant's token, unless the exception is set.
  using granted_callback = std::function<void(std::exception_ptr, rowlock::version)>;

  struct attempt {
    std::string key;
    granted_callback done;
    std::chrono::milliseconds next_pause;
    rowlock::boot_clock::time_point began;
  };

  /// What continuations use that may run after the destructor.
  struct shared_state : std::enable_shared_from_this<shared_state> {
    explicit shared_state(log_sink sink) : log{std::move(sink)} {}

    std::set<std::shared_ptr<attempt>> close() {
      const std::scoped_lock lock{mutex};
      closed = true;
      return std::exchange(pausing, {});
    }
    /// Makes a change, unless closed: false.
    template <class Change>
    bool if_open(const Change& change) {
      const std::scoped_lock lock{mutex};
      if (!closed) change();
      return !closed;
    }
    rowlock::version token(const std::string& key) {
      const std::scoped_lock lock{mutex};
      return held.at(key).token();
    }
    std::optional<rowlock::lease> take(const std::string& key, const only_grant& only) {
      const std::scoped_lock lock{mutex};
      const auto found = held.find(key);
      if (found == held.end() || (only && *only != found->second.token())) return std::nullopt;
      return std::move(held.extract(found).mapped());
    }

    void release(const std::string& key, const only_grant& only, const acquired_callback& done) {
      auto ended = take(key, only);
      if (!ended) return void(call(key, done, nullptr, true));
      rowlock::start_release(*std::move(ended), {},
                             [self = shared_from_this(), key, done](auto result) {
                               // Beyond the original: `lost` leaves the marker of a successor
                               // alone, and what is `deferred` is tried again in the background.
                               const bool is_done = result != rowlock::release_result::deferred;
                               if (!is_done) self->warn("Failed to release lock " + key);
                               self->call(key, done, nullptr, is_done);
                             });
    }
    void fail(attempt& failed, std::exception_ptr cause) noexcept {
      warn("Failed to acquire lock " + failed.key);
      // The scheduler may keep the attempt for longer, but not what its callback refers to.
      call(failed.key, std::exchange(failed.done, nullptr), error_of(failed.key, std::move(cause)),
           rowlock::version{});
    }
    /// False: the callback threw.
    template <class Result>
    bool call(const std::string& key, const std::function<void(std::exception_ptr, Result)>& done,
              std::exception_ptr thrown, Result result) noexcept {
      try {
        done(std::move(thrown), result);
        return true;
      } catch (...) {
        warn("A callback threw, of lock " + key);
        return false;
      }
    }
    void warn(const std::string& text) noexcept {
      try {
        log(log_level::warning, text);
      } catch (...) {  // a log that throws changes nothing
      }
    }

    const log_sink log;
    std::mutex mutex;
    // All below are guarded by mutex.
    bool closed = false;
    std::set<std::shared_ptr<attempt>> pausing;
    std::map<std::string, rowlock::lease> held;
  };

  void start(const std::string& key, granted_callback done) {
    const auto trying = std::make_shared<attempt>(
        attempt{key, std::move(done), options_.first_backoff, options_.time->now()});
    if (begin_pause(trying)) try_once(shared_, trying);
  }
  /// `try_acquire` that returns the token of its own grant. Another thread may release the key, and
  /// acquire it again, before the coroutine continues.
  asio::awaitable<rowlock::version> granted(std::string key) {
    const auto shared = shared_;
    auto tries = awaited<rowlock::version>([this, key](auto done) { start(key, std::move(done)); });
    const auto mine = co_await std::move(tries);
    if (!shared->if_open([] {})) std::rethrow_exception(error_of(key, nullptr));  // destroyed
    const auto state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() == asio::cancellation_type::none) co_return mine;
    const bool throws = co_await asio::this_coro::throw_if_cancelled();
    co_await asio::this_coro::throw_if_cancelled(false);
    co_await released(shared, key, mine);
    co_await asio::this_coro::throw_if_cancelled(throws);
    throw asio::system_error{asio::error::operation_aborted, "acquiring lock " + key};
  }

  /// False: the lock is being destroyed, and the attempt has failed.
  bool begin_pause(const std::shared_ptr<attempt>& trying) {
    const bool begun = shared_->if_open([&] { shared_->pausing.insert(trying); });
    if (!begun) shared_->fail(*trying, nullptr);
    return begun;
  }

  /// May run after the destructor: then the attempt does not pause any more.
  void try_once(const std::shared_ptr<shared_state>& shared,
                const std::shared_ptr<attempt>& trying) {
    try {
      // Locked until the lock_table has the attempt, so that its destructor ends it.
      const std::scoped_lock lock{shared->mutex};
      if (shared->pausing.erase(trying) == 0) return;
      const auto row = rowlock::source_id_of({options_.name_space, trying->key});
      rowlock::start_acquire(locks_, {options_.set, row}, {},
                             [this, trying](auto end) { end_try(trying, std::move(end)); });
    } catch (...) {  // nothing was sent
      shared->fail(*trying, std::current_exception());
    }
  }

  void end_try(const std::shared_ptr<attempt>& trying, rowlock::acquire_end end) {
    if (end.fault) return retry(trying, std::move(end.fault));
    if (!end.answer->acquired()) {
      std::ostringstream why;
      why << end.answer->refusal();
      auto exists = std::make_exception_ptr(key_exists{why.str()});
      return retry(trying, std::move(exists));
    }
    const auto expired = shared_->take(trying->key, {});
    // Once the lease is in `held`, another thread may release it.
    const auto mine = (*end.answer)->token();
    const bool is_kept = shared_->if_open(
        [&] { shared_->held.insert_or_assign(trying->key, **std::move(end.answer)); });
    if (!is_kept) return shared_->fail(*trying, nullptr);
    if (shared_->call(trying->key, trying->done, nullptr, mine)) return;
    shared_->release(trying->key, mine, [](auto, bool) {});
  }

  /// Exceptions are moved, so that they end in the thread that gets them.
  void retry(const std::shared_ptr<attempt>& trying, std::exception_ptr cause) {
    const auto pause = trying->next_pause;
    const auto end = options_.time->now() + pause - trying->began;
    const bool is_last = pause <= pause.zero() || end > options_.longest_retry;
    if (is_last || !may_pass(cause)) return shared_->fail(*trying, std::move(cause));
    trying->next_pause *= 2;
    if (!begin_pause(trying)) return;
    after_(pause, [this, shared = shared_, trying] { try_once(shared, trying); });
  }

  /// Without a cause: the lock was destroyed.
  static std::exception_ptr error_of(const std::string& key, std::exception_ptr cause) {
    try {
      if (!cause) throw std::runtime_error{"the reactive_lock was destroyed"};
      std::rethrow_exception(std::move(cause));
    } catch (...) {
      return std::make_exception_ptr(lock_acquire_error{key});
    }
  }

  static bool may_pass(const std::exception_ptr& fault) {
    try {
      std::rethrow_exception(fault);
    } catch (const key_exists&) {
      return true;
    } catch (const rowlock::error& thrown) {
      return thrown.kind() == rowlock::errc::unavailable ||
             thrown.kind() == rowlock::errc::outcome_unknown;
    } catch (...) {
      return false;
    }
  }

  static asio::awaitable<bool> released(std::shared_ptr<shared_state> shared, std::string key,
                                        only_grant only) {
    return awaited<bool>([=](auto done) { shared->release(key, only, std::move(done)); });
  }

  /// The callback form as a coroutine, which goes on on its own executor.
  template <class Result, class Start>
  static asio::awaitable<Result> awaited(Start start) {
    auto initiate = [](auto handler, Start begin) {
      const auto executor = asio::get_associated_executor(handler);
      const auto kept = std::make_shared<decltype(handler)>(std::move(handler));
      begin(
          [kept, work = asio::make_work_guard(executor)](std::exception_ptr thrown, Result result) {
            asio::post(work.get_executor(), [kept, thrown = std::move(thrown), result]() mutable {
              (*kept)(std::move(thrown), result);
            });
          });
    };
    return asio::async_initiate<const asio::use_awaitable_t<>, void(std::exception_ptr, Result)>(
        initiate, asio::use_awaitable, std::move(start));
  }

  const reactive_lock_options options_;
  const scheduler after_;
  const std::shared_ptr<shared_state> shared_;
  rowlock::lock_table locks_;  // its destructor ends all calls that use the members above
};

}  // namespace origins

#endif
