// At most so many holders of one name.
#ifndef ROWLOCK_SEMAPHORE_HPP
#define ROWLOCK_SEMAPHORE_HPP

#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "rowlock/lock_table.hpp"

namespace rowlock {

namespace detail {
class numbered_rows;
}

/// A permit is a lease on one of the rows `type#1` to `type#N` of the name, so it is renewed, lost,
/// fenced and released as any lease, and two of them are never on one row. The row `type#0` says
/// how many there are; everybody who uses the name has to agree.
///
/// Thread-safety: all members may be called from any thread. Fairness: none is promised; those who
/// wait ask again by the pauses of their policy.
class semaphore {
 public:
  /// `locks` must outlive it. 1 to 1,000 permits. Throws `error` (misuse). No round trip.
  semaphore(lock_table& locks, lock_key name, std::size_t permits);
  ~semaphore();

  /// A permit, or a refusal: all are taken; or somebody is about to write how many there are, or
  /// died while doing so, until its lease is over (`type#0` is the refusal's key). One round trip
  /// where a row is free, two where none is or rows are missing; three more on first use and every
  /// ten minutes of use, to agree on the number of permits. Throws `error`: misuse where the table
  /// says another number.
  outcome<lease> try_acquire(const acquire_options& options = {});

  /// Runs `callback` only if a permit could be acquired: as `lock_table::with_lock`.
  template <class Callback>
  auto with_permit(Callback&& callback, const acquire_options& options = {}) {
    return lock_table::run_under(try_acquire(options), callback,
                                 [](lease& held) { return held.release(); });
  }

  /// Writes another number into the table. Permits beyond it that are held stay so until they are
  /// released. Semaphores made with the old number are refused (misuse) within ten minutes, so
  /// replace them first or at once. A refusal: the row that says the number was taken all the time,
  /// and nothing was written. Three round trips if the row exists. Throws `error`.
  [[nodiscard]] static outcome<void> set_permits(lock_table& locks, const lock_key& name,
                                                 std::size_t permits,
                                                 const wait_policy& wait = std::chrono::seconds{5});

 private:
  lock_table& locks_;
  const std::unique_ptr<detail::numbered_rows> rows_;
};

}  // namespace rowlock

#endif
