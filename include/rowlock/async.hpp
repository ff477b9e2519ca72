// Asynchronous interface to leases, for adapters to event loops.
#ifndef ROWLOCK_ASYNC_HPP
#define ROWLOCK_ASYNC_HPP

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>

#include "rowlock/detail/export.hpp"
#include "rowlock/lease.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/outcome.hpp"

// For adapters such as asio.hpp; programs use those. Nothing here blocks. At most
// `lock_options::blocking_threads` threads of the lock_table execute all statements. They and one
// timer thread call the callbacks. A callback must not throw, run long, or destroy the lock_table.

namespace rowlock {

namespace detail {
class async_attempt;
struct async_access;
}  // namespace detail

/// The end of an attempt. Exactly one member is set.
struct acquire_end {
  std::exception_ptr fault = nullptr;
  std::optional<outcome<lease>> answer = std::nullopt;
};

/// A started attempt. Destroying this handle does not end the attempt.
class ROWLOCK_EXPORT pending_acquire {
 public:
  pending_acquire() = default;

  /// Ends the attempt, even during a statement, and calls its callback within this call with a
  /// refusal (`stopped`), or with the fault of a try whose outcome is unknown: its grant, if any,
  /// runs out. The attempt leaves the wait queue, and a later grant is released. No effect after
  /// the callback was called, or in a child of fork(). No round trip.
  void cancel() const;

 private:
  friend struct detail::async_access;
  explicit pending_acquire(std::weak_ptr<detail::async_attempt> started)
      : started_{std::move(started)} {}

  std::weak_ptr<detail::async_attempt> started_;
};

/// `lock_table::try_acquire` without blocking. Calls `done` once. A wait occupies no thread.
///
/// A time limit (`give_up_after`) starts with this call. If the database has not answered two
/// seconds after the limit, the attempt ends: as `outcome_unknown` if a try is under way, otherwise
/// as `unavailable`. A stop requested after this call, or the lock_table's destructor, ends the
/// attempt as `stopped`, even during the first statement. A later grant is released. Throws `error`
/// (misuse, or unavailable if the system cannot start a thread); then `done` is never called.
ROWLOCK_EXPORT pending_acquire start_acquire(lock_table& locks, const lock_key& key,
                                             const acquire_options& options,
                                             std::function<void(acquire_end)> done);

/// The same, but refused (`already_done`) if the row remembers the work as done.
ROWLOCK_EXPORT pending_acquire start_acquire_once(lock_table& locks, const lock_key& key,
                                                  const acquire_options& options,
                                                  std::function<void(acquire_end)> done);

struct end_of_work {
  /// The work threw: the release raises the row's `failure_count`.
  bool failed = false;
  /// How long the row remembers the work as done; at most ten years.
  std::optional<std::chrono::milliseconds> done_for = std::nullopt;
};

/// Throws `error` (misuse) for a `done_for` out of range.
ROWLOCK_EXPORT void check(const end_of_work& how);

/// `lease::release` without blocking. Calls `done` once, within this call if there is nothing to
/// release. If the lock_table is destroyed meanwhile, the result is `deferred` or `lost`. Throws
/// `error` (misuse) as `check` does. Then `done` is never called, and this call releases the lease
/// as if it went out of scope.
ROWLOCK_EXPORT void start_release(lease ended, end_of_work how,
                                  std::function<void(release_result)> done);

}  // namespace rowlock

#endif
