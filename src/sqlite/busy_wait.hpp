// How long one call waits for its turn.
#ifndef ROWLOCK_SQLITE_BUSY_WAIT_HPP
#define ROWLOCK_SQLITE_BUSY_WAIT_HPP

#include <chrono>

#include "sqlite/statement.hpp"

namespace rowlock::sqlite {

/// SQLite's own busy handler lets some wait for ever while others are served hundreds of times, and
/// does not wait at all where it is needed most; so connections have none, and we ask again
/// instead.
///
/// Thread-safety: one thread at a time.
class busy_wait {
 public:
  using clock = std::chrono::steady_clock;

  explicit busy_wait(clock::time_point end);
  explicit busy_wait(std::chrono::milliseconds longest) : busy_wait{clock::now() + longest} {}

  [[nodiscard]] clock::time_point end() const noexcept { return end_; }

  /// Sleeps for a moment, at most until the end; false if that has come already.
  bool pause();

 private:
  clock::time_point end_;
  std::chrono::microseconds pause_limit_;
};

/// Does `work` until it meets nobody. Throws its last SQLITE_BUSY when the patience is over. What
/// `work` did before that exception must bear repeating.
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

/// The same, but false when the patience is over.
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
