// Wait queues of all keys and of several rows, for the callers of one process.
#ifndef ROWLOCK_WAIT_WAIT_QUEUE_HPP
#define ROWLOCK_WAIT_WAIT_QUEUE_HPP

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "batch/statement_batcher.hpp"
#include "rowlock/clock.hpp"
#include "rowlock/detail/checked_mutex.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/outcome.hpp"
#include "rowlock/port/requests.hpp"
#include "rowlock/port/store.hpp"
#include "rowlock/retry.hpp"
#include "wait/contention_backoff.hpp"
#include "wait/due_index.hpp"
#include "wait/key_queue.hpp"
#include "wait/pending_results.hpp"

namespace rowlock::detail {

class outage;

/// Decides which keys are due, and applies answers and notifications to the waiters. Makes no call
/// of the store and has no thread: `wait_loop` makes the calls that are due.
///
/// Callers that want the same several rows have a queue of their own, under a key that no row has.
/// The head's own thread makes its tries, as they may take several statements.
///
/// A transient fault ends no wait whose policy outlasts it. During an outage one key after the
/// other is tried, to detect its end.
///
/// Thread-safety: all members may be called from any thread, except from `waiter::done`.
class wait_queue {
 public:
  wait_queue(std::shared_ptr<time_source> time, grant_sink sink, outage& away);

  /// Whether a caller should wait without a first try. That is so if other waiters of this process
  /// are queued for the key. It is also so if, by notifications, another process has the key or is
  /// about to take it.
  [[nodiscard]] bool must_wait(const lock_key& key);

  /// The result of a caller's first try, if it has made one.
  struct try_result {
    std::optional<refusal> refused = std::nullopt;
    std::exception_ptr fault = nullptr;
    /// As in `waiter`.
    bool keeps_rows = false;
  };
  /// Adds a waiter to its key's queue, in the place that `key_queue::join` gives it. One
  /// with `turn` joins a line; `awaited` are the rows that refused its first try, if it made one.
  std::shared_ptr<waiter> join(acquire_request wanted, retry_policy policy, const try_result& first,
                               std::function<void(wait_result)> done,
                               std::function<void()> turn = {}, std::vector<lock_key> awaited = {},
                               bool asks = false);

  /// The label of a waiter for the row that wants its holder asked to yield; none if no waiter
  /// does.
  [[nodiscard]] std::optional<std::string> asker_for(const lock_key& row);

  /// Ends the wait of a waiter for several rows, which has taken these; none if it has failed.
  void withdraw(waiter& leaving, std::span<const lock_key> taken) noexcept;

  /// Handles a try of a waiter for several rows, made in its turn at `tried_at` and refused because
  /// of `awaited`, or failed by a fault that its policy outlasts.
  void report_try(const std::shared_ptr<waiter>& one, const try_result& how,
                  std::vector<lock_key> awaited, boot_clock::time_point tried_at);

  struct departure {
    /// The last refusal of the head.
    refusal last;
    /// A call of the store is under way.
    bool is_unanswered = false;
    /// That call is a try for this waiter.
    bool is_being_tried = false;
    /// As in `waiter`; the caller has to return such a grant.
    std::optional<version> handed_by;
    /// A copy of why the last try for it failed; null if it did not.
    std::exception_ptr fault = nullptr;
    /// A failed try may have been granted.
    bool is_in_doubt = false;
  };
  /// Ends the wait: `done` will not be called, and a grant under way is returned. Returns nothing
  /// if the result is delivered, or about to be.
  std::optional<departure> leave(waiter& leaving);
  /// The same, but the head gets one more try, unless one is under way or the database is
  /// unreachable. Returns nothing if the answer to such a try becomes the result, or as `leave`
  /// does.
  std::optional<departure> leave_after_last_try(waiter& leaving);

  /// To be called once releases and grants are announced.
  void use_notifications();
  /// Notifications, as in `release_listener`.
  void released(const lock_key& key);
  bool changed();
  void taken(const lock_key& key, const release_listener::grant_times& lasts);
  void listening();

  /// Calls that are due: tries for these heads, or a read of all keys.
  struct work {
    waiters heads = {};
    std::vector<lock_key> keys = {};
  };
  /// Waits until calls are due; those of the previous work must have ended. Returns nothing once
  /// stopped.
  std::optional<work> await_work();
  [[nodiscard]] bool is_stopped();
  /// Makes no more calls due; the waiters have to leave.
  void stop();

  /// Handles the results of tries that were sent at `tried_at`, and may move from them.
  void answered(std::span<const std::shared_ptr<waiter>> heads, std::span<acquire_result> results,
                boot_clock::time_point tried_at) noexcept;
  void were_read(std::span<const lock_key> keys,
                 std::span<const std::optional<row_state>> states) noexcept;
  /// Returns the number of these keys that still have waiters.
  std::size_t read_failed(std::span<const lock_key> keys, const std::exception_ptr& fault) noexcept;

  /// Returns the waiter that gets the key of a lease which ends after so many handoffs. Null if the
  /// key has to be released. No try is made for that waiter until one of the next three functions
  /// is called.
  std::shared_ptr<waiter> begin_handoff(const lock_key& key, unsigned handoffs);
  void end_handoff(const std::shared_ptr<waiter>& next, grant granted);
  /// Schedules a try for the waiter.
  void handoff_refused(waiter& next);
  /// The same. After an unknown outcome the waiter may own the row of the lease with version
  /// `handed_by`.
  void handoff_failed(const std::shared_ptr<waiter>& next, const std::exception_ptr& fault,
                      version handed_by);

 private:
  [[nodiscard]] contention_backoff* backoff_of(const lock_key& key) ROWLOCK_REQUIRES(mutex_);
  void track(const lock_key& key) ROWLOCK_REQUIRES(mutex_);
  [[nodiscard]] key_queue* queue_of(const lock_key& key) ROWLOCK_REQUIRES(mutex_);
  /// To be called after a change of the key's queue: brings the indexes up to date, and forgets a
  /// queue without waiters.
  void settle(const lock_key& key) ROWLOCK_REQUIRES(mutex_);
  void forget(std::map<lock_key, key_queue>::iterator place) ROWLOCK_REQUIRES(mutex_);
  void await_rows(const lock_key& key, key_queue& queue, std::vector<lock_key> rows)
      ROWLOCK_REQUIRES(mutex_);
  /// The keys of the queues for several rows that await this one.
  [[nodiscard]] std::vector<const lock_key*> awaiting(const lock_key& row) const
      ROWLOCK_REQUIRES(mutex_);
  void was_tried(key_queue& queue, const waiter& one, const try_result& how,
                 boot_clock::time_point tried_at, pending_results& ended) noexcept
      ROWLOCK_REQUIRES(mutex_);
  /// A row that was released, or that a read has found free.
  void freed_for_lines(const lock_key& row, boot_clock::time_point now) ROWLOCK_REQUIRES(mutex_);
  /// Schedules the first call for a new queue.
  void begin(key_queue& queue, bool is_first_try_due, boot_clock::time_point now)
      ROWLOCK_REQUIRES(mutex_);
  /// The row may be free: schedules a try, after those of processes with higher counts.
  void schedule_try(key_queue& queue, boot_clock::time_point now) ROWLOCK_REQUIRES(mutex_);
  /// If releases are not announced: schedules the next read of the queue's rows.
  void poll(key_queue& queue, boot_clock::duration pause, boot_clock::time_point now) const
      ROWLOCK_REQUIRES(mutex_);
  /// Those whose tries the loop makes; the others get their turn.
  waiters take_due_heads(boot_clock::time_point now) ROWLOCK_REQUIRES(mutex_);
  void take_head(key_queue& queue, waiters& heads) ROWLOCK_REQUIRES(mutex_);
  /// During an outage: the head of one queue whose pause is over, round robin.
  waiters take_one_due_head(boot_clock::time_point now) ROWLOCK_REQUIRES(mutex_);
  std::vector<lock_key> take_keys(boot_clock::time_point now) ROWLOCK_REQUIRES(mutex_);
  [[nodiscard]] boot_clock::time_point next_read(boot_clock::time_point now) const
      ROWLOCK_REQUIRES(mutex_);
  /// How long after the last read the next one may come, unless a hint asks for it.
  [[nodiscard]] boot_clock::duration reads_apart(boot_clock::time_point now) const
      ROWLOCK_REQUIRES(mutex_);
  /// When the next try is due, unless an event comes first.
  [[nodiscard]] boot_clock::time_point next_attempt() const ROWLOCK_REQUIRES(mutex_);
  void answered(const std::shared_ptr<waiter>& head, acquire_result& result,
                boot_clock::time_point tried_at, pending_results& ended) ROWLOCK_REQUIRES(mutex_);
  void was_read(const lock_key& key, const std::optional<row_state>& seen, pending_results& ended)
      ROWLOCK_REQUIRES(mutex_);
  /// Handles a failed read, or a failed try for `tried_one`. Returns whether the key still has
  /// waiters.
  bool failed(const lock_key& key, const std::exception_ptr& fault, const waiter* tried_one,
              pending_results& ended) ROWLOCK_REQUIRES(mutex_);
  std::optional<departure> depart(waiter& leaving) ROWLOCK_REQUIRES(mutex_);
  /// Returns false if the waiter had left before.
  bool remove(waiter& leaving) ROWLOCK_REQUIRES(mutex_);
  void try_again(waiter& next) ROWLOCK_REQUIRES(mutex_);

  const std::shared_ptr<time_source> time_;
  const grant_sink sink_;
  outage& outage_;

  /// Until a caller has waited, no lock is needed to see that there are no waiters.
  std::atomic<bool> has_waited_{false};
  checked_mutex mutex_;
  std::condition_variable wake_;
  std::map<lock_key, key_queue> queues_ ROWLOCK_GUARDED_BY(mutex_);
  std::set<std::pair<lock_key, const lock_key*>> awaiting_
      ROWLOCK_GUARDED_BY(mutex_);               // rows, each with the key of a queue that awaits it
  due_index tries_ ROWLOCK_GUARDED_BY(mutex_);  // of all queues
  due_index reads_ ROWLOCK_GUARDED_BY(mutex_);
  std::map<lock_key, contention_backoff> backoffs_
      ROWLOCK_GUARDED_BY(mutex_);  // of keys that have or had queues
  boot_clock::time_point last_read_ ROWLOCK_GUARDED_BY(mutex_);
  boot_clock::duration last_read_took_ ROWLOCK_GUARDED_BY(mutex_){};
  bool has_changed_ ROWLOCK_GUARDED_BY(mutex_) = false;  // some row, since the last read
  int tries_since_read_ ROWLOCK_GUARDED_BY(mutex_) = 0;
  boot_clock::time_point last_new_queue_ ROWLOCK_GUARDED_BY(mutex_);
  lock_key last_tried_ ROWLOCK_GUARDED_BY(mutex_);  // during an outage
  bool has_notifications_ ROWLOCK_GUARDED_BY(mutex_) = false;
  bool is_in_call_ ROWLOCK_GUARDED_BY(mutex_) = false;  // for the work that was returned last
  bool is_stopped_ ROWLOCK_GUARDED_BY(mutex_) = false;
};

}  // namespace rowlock::detail

#endif
