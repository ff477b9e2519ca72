// A lock on one key with the interface of std::timed_mutex.
#ifndef ROWLOCK_ROW_MUTEX_HPP
#define ROWLOCK_ROW_MUTEX_HPP

#include <chrono>
#include <memory>
#include <optional>

#include "rowlock/detail/export.hpp"
#include "rowlock/lock_table.hpp"

namespace rowlock {

namespace detail {
class timed_mutex;
}

/// Meets TimedLockable, so `std::unique_lock` and `std::scoped_lock` work, over several rows in any
/// order too. Excludes the threads that share this object and all other users of the key. Not
/// re-entrant. A lease can be lost while the mutex is locked: long work must check `possession()`.
///
/// Thread-safety: all members may be called from any thread; unlock and possession by the thread
/// that locked it. Fairness: none is promised. Throws `error` if the database fails. During an
/// outage, or after a lost answer, `lock` waits on; `try_lock_for` throws at its end.
class ROWLOCK_EXPORT row_mutex {
 public:
  /// `locks` must outlive it. Throws `error` (misuse) for an invalid key.
  row_mutex(lock_table& locks, lock_key key);
  ~row_mutex();

  void lock();
  [[nodiscard]] bool try_lock();

  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& duration) {
    // Doubles do not overflow. More than ten years means for ever.
    constexpr std::chrono::hours for_ever{24 * 365 * 10};
    const bool is_long = std::chrono::duration<double>{duration} > for_ever;
    return try_lock_within(is_long ? for_ever
                                   : std::chrono::ceil<std::chrono::milliseconds>(duration));
  }

  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& until) {
    return try_lock_for(until - Clock::now());
  }

  /// A row that could not be unset is free when the lease runs out.
  void unlock() noexcept;

  /// Throws `error` (misuse) if not locked.
  [[nodiscard]] const lease& possession() const;

 private:
  [[nodiscard]] bool try_lock_within(std::chrono::milliseconds duration);

  /// Acquires the row. The caller has locked `in_process_`; a failure unlocks it.
  bool lock_row(const retry_policy& wait);

  lock_table& locks_;
  lock_key key_;
  const std::unique_ptr<detail::timed_mutex> in_process_;
  std::optional<lease> held_;  // of the thread that has locked in_process_
};

}  // namespace rowlock

#endif
