// A place for one thread at a time, with a time limit.
#ifndef ROWLOCK_BASE_TIMED_MUTEX_HPP
#define ROWLOCK_BASE_TIMED_MUTEX_HPP

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "rowlock/detail/home_process.hpp"

namespace rowlock::detail {

/// A mutex with a time limit. (Not `std::timed_mutex`: ThreadSanitizer of GCC 12 does not see it
/// being locked.) In a child of fork() nobody gets a turn: `take` throws `error` (misuse).
///
/// Thread-safety: all members may be called from any thread.
class turns {
 public:
  void take() {
    home_.require();
    std::unique_lock lock{place_->mutex};
    place_->given_back.wait(lock, [this] { return !place_->taken; });
    place_->taken = true;
  }

  /// False when the turn did not come before `end`.
  bool take(std::chrono::steady_clock::time_point end) {
    home_.require();
    std::unique_lock lock{place_->mutex};
    if (!place_->given_back.wait_until(lock, end, [this] { return !place_->taken; })) return false;
    place_->taken = true;
    return true;
  }

  void give_back() noexcept {
    if (!home_.is_here()) return;
    {
      const std::scoped_lock lock{place_->mutex};
      place_->taken = false;
    }
    place_->given_back.notify_one();
  }

 private:
  struct place {
    std::mutex mutex;
    std::condition_variable given_back;
    bool taken = false;  // guarded by mutex
  };

  home_process home_;
  // A condition variable that threads waited on at the time of a fork() cannot be destroyed.
  owned_at_home<place> place_ = make_owned_at_home<place>();
};

}  // namespace rowlock::detail

#endif
