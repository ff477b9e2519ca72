// One attempt to acquire a key, from the first try to the end of its wait.
#ifndef ROWLOCK_LOCK_ACQUIRE_ATTEMPT_HPP
#define ROWLOCK_LOCK_ACQUIRE_ATTEMPT_HPP

#include <exception>
#include <functional>
#include <memory>
#include <optional>

#include "lease/lease_keeper.hpp"
#include "rowlock/outcome.hpp"
#include "rowlock/retry.hpp"
#include "wait/wait_queue.hpp"

namespace rowlock::detail {

/// Result of an attempt: exactly one of the three is set.
struct attempt_end {
  std::shared_ptr<lease_state> granted = nullptr;
  std::optional<refusal> refused = std::nullopt;
  std::exception_ptr fault = nullptr;
};

/// The fault of a grant whose answer arrived after the deadline of the lease.
std::exception_ptr granted_too_late();

/// The steps of an attempt, shared by blocking and non-blocking callers. It tries at once, unless
/// other waiters of this process are queued for the key. Then it waits in the queue as far as the
/// policy allows, and outlasts transient faults. At the end of a limited time it tries once more,
/// unless the database is unreachable.
///
/// Thread-safety: one thread at a time, with two exceptions. `until` may be called from any thread;
/// the calls that end a wait (`time_over`, `give_up`, `stop`) may run concurrently.
class acquire_attempt {
 public:
  /// Whether other threads may read the request while a grant is taken up. If not, its texts move
  /// into the lease.
  enum class readers { one_thread, several_threads };
  /// Starts the time of the policy. Throws `error` (misuse) for an invalid policy.
  acquire_attempt(lease_keeper& leases, lease_request wanted, retry_policy wait, readers read_by);

  [[nodiscard]] const lock_key& key() const noexcept { return wanted_.request.key; }

  /// Returns nothing if the attempt has to wait in the queue. Blocks during the try.
  std::optional<attempt_end> first_try();

  /// Starts a wait in the queue. `answered` is called with its result, unless the attempt left the
  /// queue.
  void enqueue(std::function<void(attempt_end)> answered);

  /// End of the caller's time; `max` for no limit.
  [[nodiscard]] boot_clock::time_point until() const noexcept { return until_; }
  /// Deadline for the answer to the last try; `max` for no limit.
  [[nodiscard]] boot_clock::time_point answer_until() const noexcept;

  /// Ends a wait whose time is over. Returns nothing if `answered` gets the result, now or after
  /// the store's answer.
  std::optional<attempt_end> time_over();

  /// Ends a wait whose last try was not answered. Returns nothing as `stop` does.
  std::optional<attempt_end> give_up();

  /// Ends a wait that was stopped. Returns nothing if `answered` gets the result, now or in a
  /// moment.
  std::optional<attempt_end> stop();

  /// Reports the result to the observer.
  void report(const attempt_end& end);

 private:
  attempt_end try_once();
  attempt_end end_of(wait_result how);
  /// The result after a failed first try; nothing if the attempt still waits.
  std::optional<attempt_end> outlast(attempt_end failed, boot_clock::time_point tried_at);
  /// Whether the caller has no time for another try.
  [[nodiscard]] bool is_over() const;
  /// Leaves the queue; a grant that still arrives is released.
  std::optional<wait_queue::departure> leave();
  /// The fault of an attempt whose time is over while the database is unreachable, or whose outcome
  /// is unknown. Null if the key was held.
  std::exception_ptr why_away(const wait_queue::departure& left);

  lease_keeper& leases_;
  lease_request wanted_;  // read by one thread: without its texts once granted
  const readers read_by_;
  const retry_policy wait_;
  const boot_clock::time_point began_;
  const boot_clock::time_point until_;
  wait_queue::first_try first_try_;
  bool has_failed_ = false;  // the last try, by a fault of the store
  std::optional<boot_clock::time_point> waits_since_;
  std::weak_ptr<waiter> queued_;
};

/// To be called during an operation. Blocks until the attempt ends.
attempt_end acquire(lease_keeper& leases, lease_request wanted, retry_policy wait);

}  // namespace rowlock::detail

#endif
