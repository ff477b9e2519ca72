// Outages of the database, as seen by the waiters of a lock_table.
#ifndef ROWLOCK_WAIT_OUTAGE_HPP
#define ROWLOCK_WAIT_OUTAGE_HPP

#include <atomic>
#include <cstddef>
#include <exception>

#include "rowlock/clock.hpp"
#include "rowlock/detail/checked_mutex.hpp"

namespace rowlock::detail {

/// Shared by all waiters of a lock_table. A few failed requests change nothing, because one key may
/// be their cause. After more, one try at a time is made on behalf of all waiters, with growing
/// pauses.
///
/// Thread-safety: all members may be called from any thread.
class outage {
 public:
  /// A call for so many keys failed with a transient fault.
  void failed(std::size_t keys, const std::exception_ptr& why, boot_clock::time_point now);
  /// The database has answered a call, so it is reachable.
  void answered() noexcept;

  /// Whether the last call of any waiter failed.
  [[nodiscard]] bool is_known() const noexcept { return failed_keys_ != 0; }
  /// Whether waiters try one at a time.
  [[nodiscard]] bool is_on() const noexcept { return failed_keys_ >= few; }

  /// A copy of the last fault, or null. An exception that threads share would be read by one while
  /// another may end it.
  [[nodiscard]] std::exception_ptr why() const;

  /// When the next try may be made during an outage.
  [[nodiscard]] boot_clock::time_point next_attempt() const;
  /// Whether a waiter may try now. During an outage, true makes all others wait for a pause.
  bool may_try(boot_clock::time_point now);

 private:
  static constexpr std::size_t few = 3;

  void pause(boot_clock::time_point now) ROWLOCK_REQUIRES(mutex_);

  std::atomic<std::size_t> failed_keys_{0};
  mutable checked_mutex mutex_;
  boot_clock::time_point next_ ROWLOCK_GUARDED_BY(mutex_);
  boot_clock::duration pause_ ROWLOCK_GUARDED_BY(mutex_){};
  std::exception_ptr why_ ROWLOCK_GUARDED_BY(mutex_);
};

}  // namespace rowlock::detail

#endif
