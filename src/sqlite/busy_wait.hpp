// The retries of one call on a busy file.
#ifndef ROWLOCK_SQLITE_BUSY_WAIT_HPP
#define ROWLOCK_SQLITE_BUSY_WAIT_HPP

#include <chrono>

#include "sqlite/failure.hpp"

namespace rowlock::sqlite {

/// Pauses between retries, instead of SQLite's busy handler. That handler lets some connections
/// wait for ever while others are served hundreds of times, and does not wait at all where it is
/// needed most. So connections have no busy handler.
///
/// Thread-safety: one thread at a time.
class busy_wait {
 public:
  using clock = std::chrono::steady_clock;

  explicit busy_wait(clock::time_point end);
  explicit busy_wait(std::chrono::milliseconds longest) : busy_wait{clock::now() + longest} {}

  [[nodiscard]] clock::time_point end() const noexcept { return end_; }

  /// Sleeps for a moment, at most until the end; false if the end has passed.
  bool pause();

 private:
  clock::time_point end_;
  std::chrono::microseconds pause_;
};

/// Repeats `work` until it does not throw SQLITE_BUSY. Throws the last SQLITE_BUSY when `wait` is
/// over. What `work` did before that exception must be repeatable.
template <class Work>
void until_not_busy(busy_wait& wait, const Work& work) {
  for (;;) {
    try {
      work();
      return;
    } catch (const failure& thrown) {
      if (!is_busy(thrown) || !wait.pause()) throw;
    }
  }
}

/// The same, but returns false when `wait` is over.
template <class Work>
bool succeeds_in_time(busy_wait& wait, const Work& work) {
  try {
    until_not_busy(wait, work);
    return true;
  } catch (const failure& thrown) {
    if (!is_busy(thrown)) throw;
    return false;
  }
}

}  // namespace rowlock::sqlite

#endif
