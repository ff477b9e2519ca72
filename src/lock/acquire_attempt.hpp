// One attempt to acquire a key, from the first question to the end of its wait.
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

/// How an attempt ended: exactly one of the three is there.
struct attempt_end {
  std::shared_ptr<lease_state> granted = nullptr;
  std::optional<refusal> refused = std::nullopt;
  std::exception_ptr fault = nullptr;
};

/// Granted, but answered after the deadline of the lease.
std::exception_ptr granted_too_late();

/// Its steps, which those share who block for it and those who do not: it asks at once, unless
/// others of this process wait for the key already; then it waits in line, as far as the policy
/// allows, and outlasts faults that may pass; at the end of a limited time it is asked for once
/// more, unless the database is away.
///
/// Thread-safety: one thread at a time, but `until`; an end of the wait (`time_over`, `stop`) may
/// meet any other.
class acquire_attempt {
 public:
  /// The time of the policy begins. Throws `error` (misuse) for one that cannot be meant.
  acquire_attempt(lease_keeper& leases, lease_request wanted, retry_policy wait);

  [[nodiscard]] const lock_key& key() const noexcept { return wanted_.request.key; }

  /// None: it has to wait in line. Blocks.
  std::optional<attempt_end> first_try();

  /// Where it has to wait: `answered` is told how that ended, unless the attempt left the line.
  void enqueue(std::function<void(attempt_end)> answered);

  /// When the time is over; max: never.
  [[nodiscard]] boot_clock::time_point until() const noexcept { return until_; }
  /// When the answer to the last try has to be there; max: never.
  [[nodiscard]] boot_clock::time_point answer_until() const noexcept;

  /// Ends a wait in line whose time is over. None: its end is told, or will be when the store has
  /// answered.
  std::optional<attempt_end> time_over();

  /// Ends a wait in line whose last try was not answered. None: as of `stop`.
  std::optional<attempt_end> give_up();

  /// Ends a wait in line that was stopped. None: its end is told, or will be in a moment.
  std::optional<attempt_end> stop();

  /// Tells the observer how the attempt ended.
  void tell(const attempt_end& end);

 private:
  attempt_end try_once();
  attempt_end end_of(wait_result how);
  /// How an attempt ends whose first question failed; none: it waits all the same.
  std::optional<attempt_end> outlast(attempt_end failed, boot_clock::time_point asked_at);
  /// Whether the caller has no time for another question.
  [[nodiscard]] bool is_over() const;
  /// Leaves the line; a grant that is made to it after all is given back.
  std::optional<wait_queue::departure> leave();
  /// The fault of one whose time is over while the database is away, or that is in doubt. Null: it
  /// was held.
  std::exception_ptr why_away(const wait_queue::departure& left);

  lease_keeper& leases_;
  const lease_request wanted_;
  const retry_policy wait_;
  const boot_clock::time_point began_;
  const boot_clock::time_point until_;
  wait_queue::first_try first_try_;
  bool has_failed_ = false;  // the store, when it was asked last
  std::optional<boot_clock::time_point> waits_since_;
  std::weak_ptr<waiter> queued_;
};

/// During an operation: in the calling thread, which blocks until it ends.
attempt_end acquire(lease_keeper& leases, lease_request wanted, retry_policy wait);

}  // namespace rowlock::detail

#endif
