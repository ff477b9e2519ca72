// A place for one thread at a time, with a time limit.
#ifndef ROWLOCK_TURNS_HPP
#define ROWLOCK_TURNS_HPP

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace rowlock::detail {

/// A mutex with a time limit. (Not `std::timed_mutex`: ThreadSanitizer of GCC 12 does not see it
/// being locked.)
///
/// Thread-safety: all members may be called from any thread.
class turns {
 public:
  void take() {
    std::unique_lock lock{mutex_};
    given_back_.wait(lock, [this] { return !taken_; });
    taken_ = true;
  }

  /// False when the turn did not come before `end`.
  bool take(std::chrono::steady_clock::time_point end) {
    std::unique_lock lock{mutex_};
    if (!given_back_.wait_until(lock, end, [this] { return !taken_; })) return false;
    taken_ = true;
    return true;
  }

  void give_back() {
    {
      const std::scoped_lock lock{mutex_};
      taken_ = false;
    }
    given_back_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable given_back_;
  bool taken_ = false;  // guarded by mutex_
};

}  // namespace rowlock::detail

#endif
