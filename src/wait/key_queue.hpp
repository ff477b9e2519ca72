// Those of one process who wait for one key.
#ifndef ROWLOCK_WAIT_KEY_QUEUE_HPP
#define ROWLOCK_WAIT_KEY_QUEUE_HPP

#include <algorithm>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "lease/lease_state.hpp"
#include "rowlock/outcome.hpp"
#include "rowlock/port/store.hpp"
#include "rowlock/retry.hpp"

namespace rowlock::detail {

/// How a wait ended: exactly one of the three is there.
struct attempt_end {
  std::shared_ptr<lease_state> granted = nullptr;
  std::optional<refusal> refused = std::nullopt;
  std::exception_ptr fault = nullptr;
};

/// Granted, but answered after the deadline of the lease.
attempt_end granted_too_late();

/// One who waits.
struct waiter {
  waiter(lease_request tried_one, retry_policy how, std::function<void(attempt_end)> then)
      : wanted{std::move(tried_one)}, policy{std::move(how)}, done{std::move(then)} {}

  const lease_request wanted;
  /// Its pauses and attempts count; its stop is the waiter's own affair, and so is its time limit
  /// but for the answer that is under way then.
  const retry_policy policy;
  /// Called once, unless the waiter has left before; by the thread of the waiting room or of one
  /// who hands the row over, neither of which it must keep.
  const std::function<void(attempt_end)> done;

  /// One of its tries was in vain.
  void tried(boot_clock::time_point now);
  /// One of its tries, or a look for it, failed, and it goes on: it was `asked` for, so that it may
  /// have been granted if that is not known.
  void failed(const std::exception_ptr& why, bool tried_one);
  /// The database has answered somebody. What became of its own try is told by its own answer only.
  void forget_fault();
  /// Nothing is tried for it any more.
  [[nodiscard]] bool is_exhausted() const {
    return is_time_over || (policy.attempts && tries >= *policy.attempts);
  }

  // Guarded by the mutex of the waiting room.
  bool is_waiting = true;
  bool is_being_tried = false;
  bool is_time_over = false;
  unsigned tries = 0;
  /// Why the last try failed; null once there is an answer.
  std::exception_ptr fault = nullptr;
  /// It may have been granted in a try that failed: it is asked for before all others.
  bool is_in_doubt = false;
  /// A statement whose answer got lost was to hand it the row of the lease with this version, and
  /// may still do so.
  std::optional<version> handed_by;
  /// By its own pauses, wherever it stands.
  boot_clock::time_point try_at;
  boot_clock::duration pause{};
};

using waiters = std::deque<std::shared_ptr<waiter>>;

/// First come, first served: only the first in line is asked for. Never empty. Guarded by the mutex
/// of the waiting room.
class key_queue {
 public:
  waiters waiting;

  /// At the end, but in doubt first of all.
  void join(std::shared_ptr<waiter> joining, boot_clock::time_point now);

  /// Why the first in line has to wait.
  refusal last;

  /// When the row may be free: the moment to ask for it.
  [[nodiscard]] boot_clock::time_point try_at() const {
    return try_at_ == boot_clock::time_point::max() ? try_at_ : std::max(try_at_, not_before_);
  }
  void try_by(boot_clock::time_point when);
  /// Before asking: whoever hears of a release meanwhile sets it again.
  void forget_try_at() { try_at_ = boot_clock::time_point::max(); }

  /// Leaves the row to other processes until then, whatever is heard.
  void yield_until(boot_clock::time_point when) { not_before_ = when; }

  /// When to look at the row, whatever is expected: at the next try of anybody at the latest,
  /// unless it is quiet till then.
  [[nodiscard]] boot_clock::time_point read_at() const {
    return std::min(read_at_, std::max(next_try_, reads_suppressed_until_));
  }
  void read_by(boot_clock::time_point when);
  /// Until then a look would tell no more than was heard; after that `look_by` counts. Those whose
  /// tries are counted have theirs all the same.
  void suppress_reads_until(boot_clock::time_point when, boot_clock::time_point read_by);
  /// Before looking, as above.
  void forget_read_at() { read_at_ = boot_clock::time_point::max(); }

  /// A look, or a question for `asked`, that began at `began` found that the first has to wait. It
  /// was a try of `asked`, and of all whose own pause was over. What is left of a lease is counted
  /// from `began`: too early costs a try, too late the time of all who wait.
  void refused(refusal why, boot_clock::time_point started_at, boot_clock::time_point now,
               const waiter* tried_one = nullptr);

  /// A look, or a question for `asked`, failed with what may pass. It was a try as above. Those who
  /// do not wait through that leave the line; of a question, `asked` alone.
  waiters take_failed(const std::exception_ptr& why, boot_clock::time_point now,
                      const waiter* tried_one = nullptr);

  /// When the first try of anybody is due by its own pauses.
  [[nodiscard]] boot_clock::time_point next_try() const { return next_try_; }

  /// How often it was heard that others took the row, while all who stand here waited.
  unsigned grants_to_others = 0;
  /// Heard while the first was asked for: the answer tells whether it was that one who took it.
  unsigned grants_unattributed = 0;

  /// Somebody else is the first now.
  void moved_up(boot_clock::time_point now);

  /// Those for whom nothing is tried any more leave the line.
  waiters take_exhausted();

  /// Those who expect another version than `current` leave the line.
  waiters take_stale(version current);

  /// Those who would do work that is done leave the line.
  waiters take_done();

 private:
  void try_those_due(boot_clock::time_point now, const waiter* tried_one);
  template <class Condition>
  waiters take_if(const Condition& condition);

  boot_clock::time_point try_at_ = boot_clock::time_point::max();
  boot_clock::time_point read_at_ = boot_clock::time_point::max();
  boot_clock::time_point not_before_ = boot_clock::time_point::min();
  boot_clock::time_point reads_suppressed_until_ = boot_clock::time_point::min();
  boot_clock::time_point next_try_ = boot_clock::time_point::max();
};

}  // namespace rowlock::detail

#endif
