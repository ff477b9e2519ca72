// A caller's wait in the queue, and the ways in which it ends.
#ifndef ROWLOCK_LOCK_QUEUE_WAIT_HPP
#define ROWLOCK_LOCK_QUEUE_WAIT_HPP

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/mailbox.hpp"
#include "lease/lease_keeper.hpp"
#include "rowlock/outcome.hpp"
#include "rowlock/retry.hpp"
#include "wait/wait_queue.hpp"

namespace rowlock::detail {

/// Result of an attempt: exactly one of the three is set, or none for a turn to try.
struct attempt_end {
  std::shared_ptr<lease_state> granted = nullptr;
  std::optional<refusal> refused = std::nullopt;
  std::exception_ptr fault = nullptr;
};

attempt_end refused_as(refusal_reason reason, refusal last);

/// Only contention is worth a wait.
bool is_contention(const refusal& refused);

/// The part of an attempt that one key and several have in common. The queue gives each waiter its
/// tries as far as the policy allows, and outlasts transient faults. At the end of a limited time
/// there is one more try, unless the database is unreachable.
///
/// Thread-safety: one thread at a time, with two exceptions. `until` may be called from any thread;
/// the calls that end a wait (`time_over`, `give_up`, `stop`) may run concurrently.
class queue_wait {
 public:
  /// Starts the time of the policy. `asks`: as in `waiter`. Throws `error` (misuse) for an invalid
  /// policy.
  queue_wait(lease_keeper& leases, retry_policy wait, bool asks = false);

  /// End of the caller's time; `max` for no limit.
  [[nodiscard]] boot_clock::time_point until() const noexcept { return until_; }
  /// Deadline for the answer to the last try; `max` for no limit.
  [[nodiscard]] boot_clock::time_point answer_until() const noexcept;

  /// Ends a wait whose time is over. Returns nothing if its waiter gets the result, now or after
  /// the store's answer.
  std::optional<attempt_end> time_over();

  /// Ends a wait whose last try was not answered. Returns nothing as `stop` does.
  std::optional<attempt_end> give_up();

  /// Ends a wait that was stopped. Returns nothing if its waiter gets the result, now or in a
  /// moment.
  std::optional<attempt_end> stop();

  /// Blocks until the queue sets `answer` or the wait ends earlier.
  attempt_end await(mailbox<attempt_end>& answer, const std::stop_token& stopped);

 protected:
  ~queue_wait() = default;

  [[nodiscard]] lease_keeper& leases() const noexcept { return leases_; }
  [[nodiscard]] const retry_policy& policy() const noexcept { return wait_; }
  [[nodiscard]] bool can_wait() const noexcept;
  /// Whether the caller has no time for another try.
  [[nodiscard]] bool is_over() const;

  /// As `wait_queue::join`.
  void join(acquire_request wanted, const wait_queue::try_result& first,
            std::function<void(wait_result)> answered, std::function<void()> turn = {},
            std::vector<lock_key> awaited = {});
  [[nodiscard]] std::shared_ptr<waiter> queued() const { return queued_.lock(); }
  /// Leaves the queue; a grant that still arrives is released.
  std::optional<wait_queue::departure> leave();

  /// Reports the result of an attempt for so many keys to the observer.
  void report(const lock_key& first, std::size_t keys,
              std::span<const std::shared_ptr<lease_state>> granted, const attempt_end& end,
              const std::string& correlation_id);

 private:
  void return_if_granted(const waiter& left, const wait_queue::departure& how);
  /// The fault of an attempt whose time is over while the database is unreachable, or whose outcome
  /// is unknown. Null if the key was held.
  std::exception_ptr why_away(const wait_queue::departure& left);

  lease_keeper& leases_;
  const retry_policy wait_;
  const bool asks_;
  const boot_clock::time_point began_;
  const boot_clock::time_point until_;
  std::optional<boot_clock::time_point> waits_since_;
  bool has_reported_wait_ = false;
  std::weak_ptr<waiter> queued_;
};

}  // namespace rowlock::detail

#endif
