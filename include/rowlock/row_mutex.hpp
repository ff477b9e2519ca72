// One key in the shape of std::timed_mutex.
#ifndef ROWLOCK_ROW_MUTEX_HPP
#define ROWLOCK_ROW_MUTEX_HPP

#include <chrono>
#include <optional>

#include "rowlock/lock_table.hpp"
#include "rowlock/turns.hpp"

namespace rowlock {

/// Meets TimedLockable, so `std::unique_lock` and `std::scoped_lock` work, over several rows in any
/// order too. It excludes the threads that share this object and everybody else who uses the key.
/// It is not re-entrant.
///
/// A lease can be lost while the mutex is locked: work that takes long asks `possession()`.
///
/// Thread-safety: all members may be called from any thread; unlock and possession by the one that
/// locked. Fairness: none is promised. Throws `error` where the database fails.
class row_mutex {
 public:
  /// `locks` must outlive it. Throws `error` (misuse) for a wrong key.
  row_mutex(lock_table& locks, lock_key key);

  void lock();
  [[nodiscard]] bool try_lock();

  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& duration) {
    return try_lock_until(std::chrono::steady_clock::now() + duration);
  }

  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& until) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    return try_lock_before(std::chrono::steady_clock::now() + left);
  }

  /// Never throws; a row that could not be unset frees itself when the lease runs out.
  void unlock() noexcept;

  /// The lease behind the lock. Throws `error` (misuse) when not locked.
  [[nodiscard]] const lease& possession() const;

 private:
  [[nodiscard]] bool try_lock_before(std::chrono::steady_clock::time_point end);

  /// Takes the row, in our turn, which is given back unless the row is had.
  bool lock_row(const retry_policy& wait);

  lock_table& locks_;
  lock_key key_;
  detail::turns here_;
  std::optional<lease> held_;  // belongs to whose turn it is
};

}  // namespace rowlock

#endif
