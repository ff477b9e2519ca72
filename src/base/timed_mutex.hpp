// A mutex with a time limit.
#ifndef ROWLOCK_BASE_TIMED_MUTEX_HPP
#define ROWLOCK_BASE_TIMED_MUTEX_HPP

#include <chrono>
#include <condition_variable>

#include "rowlock/detail/checked_mutex.hpp"
#include "rowlock/detail/home_process.hpp"

namespace rowlock::detail {

/// Replaces `std::timed_mutex`, whose locking ThreadSanitizer of GCC 12 does not see. In a child of
/// fork() every lock throws `error` (misuse).
///
/// Thread-safety: all members may be called from any thread.
class ROWLOCK_THREAD_SAFETY(capability("mutex")) timed_mutex {
 public:
  void lock() ROWLOCK_THREAD_SAFETY(acquire_capability()) ROWLOCK_UNCHECKED {
    home_.require();
    checked_lock guard{state_->mutex};
    while (state_->locked) state_->unlocked.wait(guard.native());
    state_->locked = true;
  }

  /// Returns false if the mutex was still locked at `end`.
  bool try_lock_until(std::chrono::steady_clock::time_point end)
      ROWLOCK_THREAD_SAFETY(try_acquire_capability(true)) ROWLOCK_UNCHECKED {
    home_.require();
    checked_lock guard{state_->mutex};
    while (state_->locked &&
           state_->unlocked.wait_until(guard.native(), end) == std::cv_status::no_timeout) {
    }
    if (state_->locked) return false;
    state_->locked = true;
    return true;
  }

  void unlock() noexcept ROWLOCK_THREAD_SAFETY(release_capability()) ROWLOCK_UNCHECKED {
    if (!home_.is_here()) return;
    {
      const checked_lock guard{state_->mutex};
      state_->locked = false;
    }
    state_->unlocked.notify_one();
  }

 private:
  struct state {
    checked_mutex mutex;
    std::condition_variable unlocked;
    bool locked ROWLOCK_GUARDED_BY(mutex) = false;
  };

  home_process home_;
  // A condition variable with waiting threads at a fork() cannot be destroyed in the child.
  owned_at_home<state> state_ = make_owned_at_home<state>();
};

/// Unlocks it at the end.
class ROWLOCK_THREAD_SAFETY(scoped_lockable) timed_lock {
 public:
  /// For a mutex that this thread has locked.
  explicit timed_lock(timed_mutex& locked) ROWLOCK_REQUIRES(locked) : locked_{locked} {}
  timed_lock(const timed_lock&) = delete;
  timed_lock& operator=(const timed_lock&) = delete;
  ~timed_lock() ROWLOCK_THREAD_SAFETY(release_capability()) { locked_.unlock(); }

 private:
  timed_mutex& locked_;
};

}  // namespace rowlock::detail

#endif
