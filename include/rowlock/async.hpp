// Leases for those who do not block: what adapters to event loops are made of.
#ifndef ROWLOCK_ASYNC_HPP
#define ROWLOCK_ASYNC_HPP

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>

#include "rowlock/lease.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/outcome.hpp"

// Programs use an adapter, such as asio.hpp, rather than this. Nothing here blocks: all statements
// are made by threads of the lock_table, at most `lock_options::blocking_threads`. They, and one
// more that watches the clock, call the functions they are given, which must neither throw, nor
// take long, nor destroy the lock_table.

namespace rowlock {

namespace detail {
class async_attempt;
struct async_access;
}  // namespace detail

/// How an attempt ended: exactly one of the two is there.
struct acquire_end {
  std::exception_ptr fault = nullptr;
  std::optional<outcome<lease>> answer = std::nullopt;
};

/// An attempt that was started. Forgetting it changes nothing.
///
/// Thread-safety: all members may be called from any thread.
class pending_acquire {
 public:
  pending_acquire() = default;

  /// Ends the attempt: it leaves its line, and its end is told in this call, as a refusal
  /// (`stopped`), even during a statement. What is granted all the same is released. Without effect
  /// when the end was told before, and in a child of fork(). No round trip.
  void cancel() const;

 private:
  friend struct detail::async_access;
  explicit pending_acquire(std::weak_ptr<detail::async_attempt> started)
      : started_{std::move(started)} {}

  std::weak_ptr<detail::async_attempt> started_;
};

/// `lock_table::try_acquire`, without its wait: `told` is called once, with how the attempt ended.
/// Who waits costs no thread. A time limit (`give_up_after`) counts from this call on; where the
/// database has not answered two seconds after it, the attempt ends as `outcome_unknown`, or as
/// `unavailable` if its turn to ask has not come. A stop, requested after this call, and destroying
/// the lock_table end it as `stopped`, also during its first statement. What is granted after its
/// end is released. Throws `error` (misuse, and unavailable when the system lets us start no
/// thread); then `told` is never called.
///
/// Thread-safety: may be called from any thread.
pending_acquire start_acquire(lock_table& locks, const lock_key& key,
                              const acquire_options& options,
                              std::function<void(acquire_end)> told);

/// The same, refused (`already_done`) where the work is remembered as done.
pending_acquire start_acquire_once(lock_table& locks, const lock_key& key,
                                   const acquire_options& options,
                                   std::function<void(acquire_end)> told);

/// How the work under a lease ended.
struct end_of_work {
  /// It threw: the row's `failure_count` goes up.
  bool failed = false;
  /// It is to be remembered as done; at most ten years.
  std::optional<std::chrono::milliseconds> done_for = std::nullopt;
};

/// Throws `error` (misuse) for a `done_for` that cannot be meant.
void check(const end_of_work& how);

/// `lease::release`, without its wait. `told` is called once: in this call if there is nothing to
/// release. When the lock_table is destroyed meanwhile, the result is `deferred` or `lost`. Throws
/// `error` (misuse) as `check` does; then `told` is never called, and the lease is released in this
/// call, as one that goes out of scope.
///
/// Thread-safety: may be called from any thread.
void start_release(lease ended, end_of_work how, std::function<void(release_result)> told);

}  // namespace rowlock

#endif
