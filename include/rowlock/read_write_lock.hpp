// A read-write lock: many readers of one name, or one writer.
#ifndef ROWLOCK_READ_WRITE_LOCK_HPP
#define ROWLOCK_READ_WRITE_LOCK_HPP

#include <cstddef>
#include <memory>
#include <optional>

#include "rowlock/detail/export.hpp"
#include "rowlock/lock_table.hpp"

namespace rowlock {

namespace detail {
class numbered_rows;
struct obstacle;
}  // namespace detail

/// A reader has a lease on one of the name's rows `type#1` to `type#N`. A writer has leases on all
/// of them and on the next row, the gate. The rows provide the exclusion, so a fence of either is a
/// proof. A writer takes the gate first, then the rows as their readers leave them. No reader
/// enters meanwhile, so a writer is not starved while its own leases last (renewal, `renew_for`).
///
/// The row `type#0` holds the number of readers, on which all users of the name must agree;
/// agreeing blocks no reader or writer. A reader's `token()` is greater than those of all writers
/// before it, unless the database's clock goes back. For a writer use the greatest token of its
/// leases. Thread-safe. Readers and writers of one `lock_table` that wait stand in one line.
class ROWLOCK_EXPORT read_write_lock {
 public:
  /// `locks` must outlive it. 1 to 999 readers at a time. Throws `error` (misuse). No round trip.
  read_write_lock(lock_table& locks, lock_key name, std::size_t readers = 16);
  ~read_write_lock();

  /// A reader's lease. Refused while a writer has the gate or N readers are there. Also refused
  /// while another process is about to write N, or died doing so and its lease still lasts. Two
  /// round trips; three more on first use and every ten minutes of use, to agree on N. Throws
  /// `error`; misuse if the table has another number.
  outcome<lease> try_acquire_shared(const acquire_options& options = {});

  /// A writer's leases. One round trip if there are no readers and no writer. Otherwise it holds
  /// the gate and waits until the last reader leaves or the wait is over. Throws as
  /// `try_acquire_shared`; `hold_at_least` is misuse.
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
  /// A refusal if a writer has the gate.
  std::optional<refusal> writer();
  /// Takes those of the missing rows that are free while the gate is held. Nothing is in the way
  /// once it has all rows.
  std::optional<detail::obstacle> collect(lease_set& held, const acquire_options& options,
                                          detail::set_attempt& attempt);
  [[nodiscard]] lock_key gate() const;

  lock_table& locks_;
  const std::unique_ptr<detail::numbered_rows> rows_;
};

}  // namespace rowlock

#endif
