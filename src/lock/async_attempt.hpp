// An attempt for callers that do not block.
#ifndef ROWLOCK_LOCK_ASYNC_ATTEMPT_HPP
#define ROWLOCK_LOCK_ASYNC_ATTEMPT_HPP

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>

#include "base/worker_pool.hpp"
#include "lease/lease_keeper.hpp"
#include "lock/acquire_attempt.hpp"

namespace rowlock::detail {

/// The worker pool of the keeper makes the tries; a wait is an entry in the queue, and has timers
/// of the pool if its time is limited. The attempt lives as long as one of these needs it, and
/// `lease_keeper::close` waits for that. A stop, or the end of the time for an answer, ends it even
/// while it waits for its turn to ask, or its first question hangs.
///
/// In a child of fork() nothing ends it.
///
/// Thread-safety: all members may be called from any thread.
class async_attempt : public std::enable_shared_from_this<async_attempt> {
 public:
  /// Called once, by a thread of the pool or by the one that cancels or stops, and under no mutex.
  using completion = std::function<void(attempt_end)>;

  /// As `acquire_attempt`.
  async_attempt(lease_keeper& leases, lease_keeper::operation_guard here, lease_request wanted,
                retry_policy wait, completion told);
  async_attempt(const async_attempt&) = delete;
  async_attempt& operator=(const async_attempt&) = delete;
  ~async_attempt();

  /// Throws `error` (unavailable) when the system lets us start no thread.
  void start();

  /// Ends it at once as stopped, whatever it is at. What is granted all the same is released.
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

  /// Runs a step in the pool, which returns how the attempt ended, if it did.
  template <class Step>
  void take(const Step& step);
  std::optional<attempt_end> first_try();
  std::optional<attempt_end> enqueue();
  /// `step` may end it at `when`.
  void post_at(boot_clock::time_point when, void (async_attempt::*step)());
  void time_over();
  void give_up();
  void stop_waiting();
  /// Ends it as `how` answers under mutex_, if its first question was not answered. False: it is
  /// in line.
  template <class How>
  bool end_before_line(const How& how);
  [[nodiscard]] attempt_end stopped() const;
  void finish(attempt_end end);
  /// Of one that is not over: whom to tell. Null: it is over.
  completion end_it();

  lease_keeper& leases_;
  const lease_keeper::operation_guard here_;
  const std::stop_token stop_;
  const bool can_wait_;

  std::mutex mutex_;
  acquire_attempt attempt_;  // enters and leaves its line under mutex_
  completion told_;          // guarded by mutex_; null: it is over
  bool is_trying_ = false;   // guarded by mutex_; its turn to ask has come
  bool is_queued_ = false;   // guarded by mutex_; it was, if it is over
  std::vector<worker_pool::timer> at_the_end_;

  // Destroyed first, because they use what is above.
  std::optional<std::stop_callback<closing>> on_close_;
  std::optional<std::stop_callback<stopping>> on_stop_;
};

}  // namespace rowlock::detail

#endif
