// The waiters of one process for one key.
#ifndef ROWLOCK_WAIT_KEY_QUEUE_HPP
#define ROWLOCK_WAIT_KEY_QUEUE_HPP

#include <chrono>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "rowlock/clock.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/outcome.hpp"
#include "rowlock/port/requests.hpp"
#include "rowlock/retry.hpp"

namespace rowlock::detail {

struct grant {
  acquire_answer answer;
  /// Before the statement was sent: the ttl counts from here at the earliest.
  boot_clock::time_point tried_at;
  /// How many holders of this process in a row have had the key before, without a release.
  unsigned handoffs = 0;
};

/// How a wait ended: exactly one of the three is there.
struct wait_result {
  std::optional<grant> granted = std::nullopt;
  std::optional<refusal> refused = std::nullopt;
  std::exception_ptr fault = nullptr;
};

struct waiter {
  waiter(acquire_request wanted, retry_policy how, std::function<void(wait_result)> then)
      : request{std::move(wanted)}, policy{std::move(how)}, done{std::move(then)} {}

  const acquire_request request;
  /// Its pauses and attempts count. Its stop is the caller's affair, and so is its time limit but
  /// for the answer that is under way then.
  const retry_policy policy;
  /// Called once, unless the waiter has left before; by the thread of the loop or of a caller that
  /// hands off, neither of which it must keep.
  const std::function<void(wait_result)> done;

  /// One of its tries was in vain.
  void tried(boot_clock::time_point now);
  /// A try or a read for it failed, and it goes on. After a try of its own it may be granted.
  void failed(const std::exception_ptr& why, bool was_own_try);
  /// The database has answered another call. Only its own answer resolves a doubt.
  void forget_fault();
  /// Nothing is tried for it any more.
  [[nodiscard]] bool is_exhausted() const {
    return is_time_over || (policy.attempts && tries >= *policy.attempts);
  }

  // Guarded by the mutex of the wait_queue.
  bool is_waiting = true;
  bool is_being_tried = false;
  bool is_time_over = false;
  unsigned tries = 0;
  /// Why the last try failed; null once there is an answer.
  std::exception_ptr fault = nullptr;
  /// It may have been granted in a try that failed: it is tried before all others.
  bool is_in_doubt = false;
  /// A handoff in doubt may still grant it the row of the lease with this version.
  std::optional<version> handed_by;
  /// By its own pauses, wherever it stands.
  boot_clock::time_point try_at;
  boot_clock::duration pause{};
};

using waiters = std::deque<std::shared_ptr<waiter>>;

class contention_backoff;
class pending_results;

/// First come, first served: tries are made for the first waiter, the head. Never empty. Guarded by
/// the mutex of the wait_queue.
class key_queue {
 public:
  waiters waiting;

  /// At the end; in doubt, first of all.
  void join(std::shared_ptr<waiter> joining, boot_clock::time_point now);

  /// What the head was refused with last.
  refusal last;

  /// When the row may be free: the moment to try.
  [[nodiscard]] boot_clock::time_point try_at() const {
    return try_at_ == boot_clock::time_point::max() ? try_at_ : std::max(try_at_, not_before_);
  }
  void try_by(boot_clock::time_point when);
  /// Before a try: a release that is announced meanwhile sets it again.
  void forget_try_at() { try_at_ = boot_clock::time_point::max(); }

  /// Leaves the row to other processes until then, whatever is announced.
  void yield_until(boot_clock::time_point when) { not_before_ = when; }

  /// When to read the row, whatever is expected: at the first of all waiters' next tries, unless
  /// reads are suppressed until later.
  [[nodiscard]] boot_clock::time_point read_at() const {
    return std::min(read_at_, std::max(next_try_, reads_suppressed_until_));
  }
  void read_by(boot_clock::time_point when);
  /// Until then a read would say no more than the notifications; after it `read_by` counts. Without
  /// effect while a waiter is there whose tries are counted.
  void suppress_reads_until(boot_clock::time_point when, boot_clock::time_point read_by);
  /// Before a read, as above.
  void forget_read_at() { read_at_ = boot_clock::time_point::max(); }

  /// When the first of all waiters' next tries is due by their own pauses.
  [[nodiscard]] boot_clock::time_point next_try() const { return next_try_; }

  /// The answer to a try for `head`, which was sent at `tried_at`. `backoff`: null if the key has
  /// none.
  void answered(const std::shared_ptr<waiter>& head, acquire_answer answer,
                boot_clock::time_point tried_at, boot_clock::time_point now,
                contention_backoff* backoff, pending_results& ended);
  /// A read that began at `read_began` found the row live.
  void read_live(const row_state& seen, boot_clock::time_point read_began,
                 boot_clock::time_point now, pending_results& ended);
  /// A notification: another holder has the key for so long.
  void taken(std::optional<std::chrono::microseconds> remaining, boot_clock::time_point now);
  /// A read, or a try for `tried_one`, failed with what may pass. It was a try of `tried_one`, and
  /// of all whose own pause is over. Waiters that do not outlast it leave; of a try, it alone.
  void failed(const std::exception_ptr& why, boot_clock::time_point now, const waiter* tried_one,
              pending_results& ended);
  /// The first try of the first waiter found this.
  void refused_first(refusal why, boot_clock::time_point now) {
    refused(std::move(why), now, now, nullptr);
  }

  /// Grants to others that were announced while all who are here waited.
  unsigned grants_to_others = 0;
  /// Announced during a try: its answer says whether the head is the one that was granted.
  unsigned grants_unattributed = 0;

  /// Another waiter is the head now.
  void moved_up(boot_clock::time_point now);
  /// False: it has left before.
  bool remove(waiter& leaving, boot_clock::time_point now);
  /// Those for whom nothing is tried any more leave.
  void end_exhausted(pending_results& ended);

 private:
  /// The head has to wait. It was a try of `tried_one`, and of all whose own pause is over. What is
  /// left of a lease counts from `began`: too early costs a try, too late the time of all waiters.
  void refused(refusal why, boot_clock::time_point began, boot_clock::time_point now,
               const waiter* tried_one);
  void try_those_due(boot_clock::time_point now, const waiter* tried_one);
  void end_done(refusal why, pending_results& ended);
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
