// An asynchronous attempt to acquire a key.
#ifndef ROWLOCK_LOCK_ASYNC_ATTEMPT_HPP
#define ROWLOCK_LOCK_ASYNC_ATTEMPT_HPP

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

#include "base/worker_pool.hpp"
#include "lease/lease_keeper.hpp"
#include "lock/acquire_attempt.hpp"
#include "rowlock/detail/checked_mutex.hpp"

namespace rowlock::detail {

/// The keeper's worker pool runs the tries. A wait is an entry in the queue, with timers of the
/// pool if its time is limited. The attempt lives while any of these refers to it, and
/// `lease_keeper::close` waits for that. A stop, or the deadline for an answer, ends it even before
/// its first try, or while that try hangs.
///
/// In a child of fork() the attempt never ends.
///
/// Thread-safety: all members may be called from any thread.
class async_attempt : public std::enable_shared_from_this<async_attempt> {
 public:
  /// Called once, without a mutex held, by a thread of the pool or the thread that cancels or
  /// stops.
  using completion = std::function<void(attempt_end)>;

  /// As `acquire_attempt`.
  async_attempt(lease_keeper& leases, operation_gate::guard here, lease_request wanted,
                retry_policy wait, completion done);
  async_attempt(const async_attempt&) = delete;
  async_attempt& operator=(const async_attempt&) = delete;
  ~async_attempt();

  /// Throws `error` (unavailable) if no thread can be started.
  void start();

  /// Ends the attempt at once as stopped, in any state. A grant that still arrives is released.
  void cancel();

 private:
  struct closing {
    async_attempt* attempt;
    void operator()() const;
  };
  struct stopping {
    async_attempt* attempt;
    void operator()() const;
  };

  /// Runs a step, and finishes the attempt if the step returns or throws its result.
  template <class Step>
  void take(const Step& step);
  std::optional<attempt_end> first_try();
  std::optional<attempt_end> enqueue();
  /// Schedules a step that may end the attempt.
  void post_at(boot_clock::time_point when, void (async_attempt::*step)());
  void time_over();
  void give_up();
  void stop_waiting();
  /// Ends an attempt that is not queued yet with the result of `how`, which runs under mutex_.
  /// False if it is queued.
  template <class How>
  bool end_before_queue(const How& how);
  [[nodiscard]] attempt_end stopped() const;
  void finish(attempt_end end);
  /// Ends the attempt and returns its completion; null if it was over.
  completion end_it();

  lease_keeper& leases_;
  const operation_gate::guard here_;
  const std::stop_token stop_;
  const bool can_wait_;

  checked_mutex mutex_;
  acquire_attempt attempt_;                            // joins and leaves its queue under mutex_
  completion done_ ROWLOCK_GUARDED_BY(mutex_);         // null once over
  bool is_trying_ ROWLOCK_GUARDED_BY(mutex_) = false;  // the first try has begun
  bool is_queued_ ROWLOCK_GUARDED_BY(mutex_) = false;  // stays true after the wait
  std::vector<worker_pool::timer> at_the_end_;

  // Destroyed first, because the callbacks use the members above.
  std::optional<std::stop_callback<closing>> on_close_;
  std::optional<std::stop_callback<stopping>> on_stop_;
};

}  // namespace rowlock::detail

#endif
