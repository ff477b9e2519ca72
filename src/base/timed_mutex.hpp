// A mutex with a time limit.
#ifndef ROWLOCK_BASE_TIMED_MUTEX_HPP
#define ROWLOCK_BASE_TIMED_MUTEX_HPP

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "rowlock/detail/home_process.hpp"

namespace rowlock::detail {

/// Replaces `std::timed_mutex`, whose locking ThreadSanitizer of GCC 12 does not see. In a child of
/// fork() every lock throws `error` (misuse).
///
/// Thread-safety: all members may be called from any thread.
class timed_mutex {
 public:
  void lock() {
    home_.require();
    std::unique_lock guard{state_->mutex};
    state_->unlocked.wait(guard, [this] { return !state_->locked; });
    state_->locked = true;
  }

  /// Returns false if the mutex was still locked at `end`.
  bool try_lock_until(std::chrono::steady_clock::time_point end) {
    home_.require();
    std::unique_lock guard{state_->mutex};
    if (!state_->unlocked.wait_until(guard, end, [this] { return !state_->locked; })) return false;
    state_->locked = true;
    return true;
  }

  void unlock() noexcept {
    if (!home_.is_here()) return;
    {
      const std::scoped_lock guard{state_->mutex};
      state_->locked = false;
    }
    state_->unlocked.notify_one();
  }

 private:
  struct state {
    std::mutex mutex;
    std::condition_variable unlocked;
    bool locked = false;  // guarded by mutex
  };

  home_process home_;
  // A condition variable with waiting threads at a fork() cannot be destroyed in the child.
  owned_at_home<state> state_ = make_owned_at_home<state>();
};

}  // namespace rowlock::detail

#endif
