// The queue of one process's waiters for one key, or for the same several rows.
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
  /// Time before the statement was sent: the ttl cannot begin earlier.
  boot_clock::time_point tried_at;
  /// Number of handoffs of the key within this process since its last release.
  unsigned handoffs = 0;
};

/// Result of a wait: exactly one of the three is set.
struct wait_result {
  std::optional<grant> granted = std::nullopt;
  std::optional<refusal> refused = std::nullopt;
  std::exception_ptr fault = nullptr;
};

struct waiter {
  waiter(acquire_request wanted, retry_policy how, std::function<void(wait_result)> then,
         std::function<void()> on_turn, bool asks_holders = false)
      : request{std::move(wanted)},
        policy{std::move(how)},
        done{std::move(then)},
        turn{std::move(on_turn)},
        asks{asks_holders} {}

  /// Of a waiter for several rows only the key, which names its queue, and the holder.
  const acquire_request request;
  /// Only its pauses and attempts are used here. The caller applies its stop and its time limit; a
  /// try that is under way at the limit is still answered.
  const retry_policy policy;
  /// Called once, unless the waiter has left before. Runs on the thread of the loop or of a caller
  /// that hands off, so it must not block.
  const std::function<void(wait_result)> done;
  /// Only for several rows: called when a try is due, with the mutex of the wait_queue locked. The
  /// waiter's own thread then makes the try and reports it (`wait_queue::report_try`).
  const std::function<void()> turn;
  /// Holders of what it waits for are asked to yield.
  const bool asks;

  /// Counts a try without a grant, and schedules the next one.
  void tried(boot_clock::time_point now);
  /// Records the fault of a try or a read that the wait outlasts. After its own try, the waiter may
  /// have been granted the key.
  void failed(const std::exception_ptr& why, bool was_own_try);
  /// Clears the fault after any answer of the database. Only the waiter's own answer resolves a
  /// doubt.
  void forget_fault();
  /// Whether no more tries are made for it.
  [[nodiscard]] bool is_exhausted() const {
    return is_time_over || (policy.attempts && tries >= *policy.attempts);
  }

  // Guarded by the mutex of the wait_queue.
  bool is_waiting = true;
  /// Of several rows it keeps some while it waits, so it stands before all that may need these.
  bool keeps_rows = false;
  bool is_being_tried = false;
  bool is_time_over = false;
  unsigned tries = 0;
  /// Why the last try failed; null after an answer.
  std::exception_ptr fault = nullptr;
  /// A failed try may have been granted, so this waiter is tried before all others.
  bool is_in_doubt = false;
  /// A handoff in doubt may still grant this waiter the row of the lease with this version.
  std::optional<version> handed_by;
  /// Next try by its own pauses, at any place in the queue.
  boot_clock::time_point try_at;
  boot_clock::duration pause{};
};

using waiters = std::deque<std::shared_ptr<waiter>>;

class contention_backoff;
class pending_results;

/// A FIFO queue: tries are made for the first waiter, the head. Never empty.
///
/// Guarded by the mutex of the wait_queue.
class key_queue {
 public:
  waiters waiting;

  /// Adds a waiter at the end. One in doubt comes before those that are not, and one that keeps
  /// rows before all.
  void join(std::shared_ptr<waiter> joining, boot_clock::time_point now);
  void bring_to_front(const std::shared_ptr<waiter>& first);

  /// The last refusal of the head.
  refusal last;

  bool is_line = false;  // for several rows
  /// Only for a line: the rows that refused its last head, in order. The head gets a turn when one
  /// becomes free, and after its own pause.
  std::vector<lock_key> awaited;
  /// Turns left to give: one for each awaited row that was released or found free. A grant of such
  /// a row uses one up. A refusal of the head uses up those from before its turn.
  unsigned freed = 0;
  unsigned freed_before_turn = 0;

  /// `try_at` and `read_at` as the indexes of the wait_queue have them.
  boot_clock::time_point indexed_try = boot_clock::time_point::max();
  boot_clock::time_point indexed_read = boot_clock::time_point::max();

  /// When the row may be free, so that a try is due.
  [[nodiscard]] boot_clock::time_point try_at() const {
    const bool is_in_turn = is_line && !waiting.empty() && waiting.front()->is_being_tried;
    if (is_in_turn || try_at_ == boot_clock::time_point::max()) {
      return boot_clock::time_point::max();
    }
    return std::max(try_at_, not_before_);
  }
  void try_by(boot_clock::time_point when);
  /// To be called before a try: a release announced during the try sets the time again.
  void forget_try_at() { try_at_ = boot_clock::time_point::max(); }

  /// Leaves the row to other processes until then, even if a release is announced.
  void yield_until(boot_clock::time_point when) { not_before_ = when; }

  /// When to read the row, even if no change is expected: at the earliest next try of all waiters,
  /// unless reads are suppressed for longer. For several rows only if `read_by` asks for it.
  [[nodiscard]] boot_clock::time_point read_at() const {
    if (is_line) return read_at_;
    return std::min(read_at_, std::max(next_try_, reads_suppressed_until_));
  }
  void read_by(boot_clock::time_point when);
  /// Schedules the read that a failed call may have been about to make needless.
  void read_after_fault(boot_clock::time_point now);
  /// Until then a read adds nothing to the notifications; after it `read_by` applies. No effect
  /// while a waiter has limited attempts. Any role may notify, so the row is read two seconds after
  /// its last answer, whatever the notifications say.
  void suppress_reads_until(boot_clock::time_point when, boot_clock::time_point read_by);
  /// Where releases are not announced: reads the row so long after `now`, but not before the
  /// shortest pause of all waiters. Waiters with limited attempts have the row read after their own
  /// pauses, too.
  void poll_after(boot_clock::duration pause, boot_clock::time_point now);
  /// Handles a read that found the row free.
  void read_free(boot_clock::time_point now) { answered_at_ = now; }
  /// Handles a read of one of several rows that is live: at its end a try is due.
  void line_read_live(const row_state& seen, boot_clock::time_point read_began);
  /// To be called before a read, as `forget_try_at` before a try.
  void forget_read_at() { read_at_ = boot_clock::time_point::max(); }

  /// During an outage: when the head may ask whether the database answers again. Where a probe uses
  /// up one of its attempts, its pauses decide.
  [[nodiscard]] boot_clock::time_point next_probe() const {
    return waiting.front()->policy.attempts ? next_try_ : std::min(next_try_, read_at_);
  }

  /// Handles the answer to a try for `head` that was sent at `tried_at`. `backoff` is null if the
  /// key has none.
  void answered(const std::shared_ptr<waiter>& head, acquire_answer answer,
                boot_clock::time_point tried_at, boot_clock::time_point now,
                contention_backoff* backoff, pending_results& ended);
  /// Handles the refusal of a try for several rows that `tried_one` made at `tried_at`.
  void line_refused(refusal why, const waiter& tried_one, boot_clock::time_point tried_at,
                    boot_clock::time_point now, pending_results& ended);
  /// Handles a read that began at `read_began` and found the row live.
  void read_live(const row_state& seen, boot_clock::time_point read_began,
                 boot_clock::time_point now, pending_results& ended);
  /// Handles a notification that another holder has the key for so long.
  void taken(std::optional<std::chrono::microseconds> remaining, boot_clock::time_point now);
  /// Handles a transient fault of a read, or of a try for `tried_one`. It counts as a try of
  /// `tried_one` and of all waiters whose own pause is over. Waiters that do not outlast the fault
  /// leave; after a try, only `tried_one` may.
  void failed(const std::exception_ptr& why, boot_clock::time_point now, const waiter* tried_one,
              pending_results& ended);
  /// Handles the refusal of the try that the first waiter made before it joined.
  void refused_first(refusal why, boot_clock::time_point now) {
    answered_at_ = now;
    refused(std::move(why), now, now, nullptr);
  }

  /// Grants to others that were announced since the wait began or a try was granted.
  unsigned grants_to_others = 0;
  /// Grants announced during a try: its answer shows whether the head got one of them.
  unsigned grants_unattributed = 0;

  /// Schedules a read after a change of the head; in a line a try, at once if rows are free, or for
  /// waiters whose time is over.
  void moved_up(boot_clock::time_point now);
  /// Returns false if the waiter had left before.
  bool remove(waiter& leaving, boot_clock::time_point now);
  /// Ends the waits of exhausted waiters.
  void end_exhausted(boot_clock::time_point now, pending_results& ended);

 private:
  /// Handles a refusal of the head. It counts as a try of `tried_one` and of all waiters whose own
  /// pause is over. The rest of a lease counts from `began`: a try too early costs a statement, a
  /// try too late delays all waiters.
  void refused(refusal why, boot_clock::time_point began, boot_clock::time_point now,
               const waiter* tried_one);
  void try_those_due(boot_clock::time_point now, const waiter* tried_one);
  void end_done(refusal why, pending_results& ended);
  [[nodiscard]] bool has_limited_attempts() const;
  template <class Condition>
  waiters take_if(const Condition& condition);

  /// When the database last answered about the row; when the queue began, before that.
  boot_clock::time_point answered_at_ = boot_clock::time_point::min();
  boot_clock::time_point try_at_ = boot_clock::time_point::max();
  boot_clock::time_point read_at_ = boot_clock::time_point::max();
  boot_clock::time_point not_before_ = boot_clock::time_point::min();
  boot_clock::time_point reads_suppressed_until_ = boot_clock::time_point::min();
  boot_clock::time_point next_try_ = boot_clock::time_point::max();
};

}  // namespace rowlock::detail

#endif
