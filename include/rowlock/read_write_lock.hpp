// Many readers of one name, or one writer.
#ifndef ROWLOCK_READ_WRITE_LOCK_HPP
#define ROWLOCK_READ_WRITE_LOCK_HPP

#include <cstddef>
#include <memory>
#include <optional>

#include "rowlock/lock_table.hpp"

namespace rowlock {

namespace detail {
class numbered_rows;
}

/// A reader has a lease on one of the rows `type#1` to `type#N` of the name, a writer has leases on
/// all of them and on the one after them, the gate. Exclusion is that of the rows, so a fence of
/// either is a proof. A writer takes the gate first, then the rows as their readers leave them; no
/// reader comes in meanwhile, so it is not starved, as long as its own leases last (renewal,
/// `at_most`). The row `type#0` says how many readers there are; everybody who uses the name has to
/// agree. Whoever only does that is in nobody's way.
///
/// A reader's `token()` is greater than those of all writers before it, as far as the database's
/// clock does not go back; of a writer, use the greatest of its leases'.
///
/// Thread-safety: all members may be called from any thread. Those who wait ask again by the pauses
/// of their policy.
class read_write_lock {
 public:
  /// `locks` must outlive it. At most 1 to 999 readers at a time. Throws `error` (misuse). No round
  /// trip.
  read_write_lock(lock_table& locks, lock_key name, std::size_t readers = 16);
  ~read_write_lock();

  /// A reader's lease. Refused while a writer has the gate, or N readers are there; or somebody is
  /// about to write N, or died while doing so, until its lease is over. Two round trips; three more
  /// on first use and every ten minutes of use, to agree on N. Throws `error`: misuse where the
  /// table says another number.
  outcome<lease> try_acquire_shared(const acquire_options& options = {});

  /// A writer's leases. One round trip if nobody is there; else it waits with the gate in hand
  /// until the last reader has left, or the wait is over. Throws as `try_acquire_shared`;
  /// `hold_at_least` is misuse.
  outcome<lease_set> try_acquire_exclusive(const acquire_options& options = {});

  /// As `lock_table::with_lock`.
  template <class Callback>
  auto with_shared(Callback&& callback, const acquire_options& options = {}) {
    return lock_table::run_under(try_acquire_shared(options), callback,
                                 [](lease& held) { return held.release(); });
  }
  /// As `lock_table::with_lock_all`.
  template <class Callback>
  auto with_exclusive(Callback&& callback, const acquire_options& options = {}) {
    return lock_table::run_under(try_acquire_exclusive(options), callback,
                                 [](lease_set& held) { return held.release(); });
  }

 private:
  // `once` allows one try, and is the attempt that all tries belong to.
  outcome<lease> try_once_shared(const acquire_options& options, detail::retry_pauses& once);
  /// With the gate in hand: takes the rows that are free; none when it has them all.
  std::optional<refusal> collect(lease_set& held, const acquire_options& options,
                                 detail::retry_pauses& once);
  /// Stands for all of them in a refusal.
  [[nodiscard]] lock_key key() const;

  lock_table& locks_;
  const std::unique_ptr<detail::numbered_rows> rows_;
};

}  // namespace rowlock

#endif
