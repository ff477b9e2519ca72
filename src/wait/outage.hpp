// Whether the database is away, as far as those who wait know.
#ifndef ROWLOCK_WAIT_OUTAGE_HPP
#define ROWLOCK_WAIT_OUTAGE_HPP

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>

#include "rowlock/clock.hpp"

namespace rowlock::detail {

/// For all who wait at one lock_table. Few questions in vain change nothing, as they may be the
/// fault of one key; after more, one question at a time is asked for all, and the pauses grow.
///
/// Thread-safety: all members may be called from any thread.
class outage {
 public:
  /// A question about so many keys failed with a fault that may pass.
  void failed(std::size_t keys, const std::exception_ptr& why, boot_clock::time_point now);
  /// The database has answered a question: it is there.
  void answered() noexcept;

  /// Whether the last question of anybody was in vain.
  [[nodiscard]] bool is_known() const noexcept { return in_vain_ != 0; }
  /// Whether those who wait ask one at a time.
  [[nodiscard]] bool is_on() const noexcept { return in_vain_ >= few; }

  /// The last fault; null: there was none. It is shared.
  [[nodiscard]] std::exception_ptr why() const;

  /// While it is on: when somebody may ask next.
  [[nodiscard]] boot_clock::time_point next_attempt() const;
  /// Whether one who waits may ask now. While it is on, the others then may not for a pause.
  bool may_try(boot_clock::time_point now);

 private:
  static constexpr std::size_t few = 3;

  void pause(boot_clock::time_point now);  // called with the mutex held

  std::atomic<std::size_t> in_vain_{0};
  mutable std::mutex mutex_;
  boot_clock::time_point next_;   // guarded by mutex_
  boot_clock::duration pause_{};  // guarded by mutex_
  std::exception_ptr why_;        // guarded by mutex_
};

}  // namespace rowlock::detail

#endif
