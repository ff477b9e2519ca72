// The queues of all keys that callers of this process wait for.
#ifndef ROWLOCK_WAIT_WAIT_QUEUE_HPP
#define ROWLOCK_WAIT_WAIT_QUEUE_HPP

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "batch/statement_batcher.hpp"
#include "rowlock/clock.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/outcome.hpp"
#include "rowlock/port/requests.hpp"
#include "rowlock/port/store.hpp"
#include "rowlock/retry.hpp"
#include "wait/contention_backoff.hpp"
#include "wait/key_queue.hpp"
#include "wait/pending_results.hpp"

namespace rowlock::detail {

class outage;

/// Knows which keys are due, and what answers and notifications mean for the waiters. Makes no call
/// of the store and has no thread: `wait_loop` has one, which makes the calls that are due.
///
/// A fault that may pass ends no wait that is to outlast it. During an outage one key after the
/// other is tried, to find its end.
///
/// Thread-safety: all members may be called from any thread, except from `waiter::done`.
class wait_queue {
 public:
  wait_queue(std::shared_ptr<time_source> time, grant_sink sink, outage& away);

  /// Whether a caller who may wait need not try first: others of this process are queued for the
  /// key, or notifications say that other processes have it, or are about to.
  [[nodiscard]] bool must_wait(const lock_key& key);

  /// What the first try of a caller came to, if it has made one.
  struct first_try {
    std::optional<refusal> refused = std::nullopt;
    std::exception_ptr fault = nullptr;
  };
  /// At the end of the queue of its key; in doubt, first of all.
  std::shared_ptr<waiter> join(acquire_request wanted, retry_policy policy, const first_try& first,
                               std::function<void(wait_result)> done);

  struct departure {
    /// What the head was refused with last.
    refusal last;
    /// A call of the store is under way.
    bool is_unanswered = false;
    /// It is a try for this waiter.
    bool is_being_tried = false;
    /// As in `waiter`: a grant that no caller takes is to be returned.
    std::optional<version> handed_by;
    /// Why the last try for it failed; null if it did not.
    std::exception_ptr fault = nullptr;
    /// It may have been granted.
    bool is_in_doubt = false;
  };
  /// Gives up: `done` will not be called, and a grant that is under way is returned. None: the
  /// result is there, or will be in a moment.
  std::optional<departure> leave(waiter& leaving);
  /// The same, but for the head one more try is made, unless one is under way or the database is
  /// away; its answer is the result. None: that is so, or as above.
  std::optional<departure> leave_after_last_try(waiter& leaving);

  /// Releases and grants are announced from now on.
  void use_notifications();
  /// As `release_listener`.
  void released(const lock_key& key);
  void taken(const lock_key& key, const release_listener::grant_times& lasts);
  void listening();

  /// What is due: tries for these heads, or a read of all keys.
  struct work {
    waiters heads = {};
    std::vector<lock_key> keys = {};
  };
  /// Returns when something is due; the call for the work before has ended then. None: stopped.
  std::optional<work> await_work();
  [[nodiscard]] bool is_stopped();
  /// Nothing is due any more; the waiters have to leave.
  void stop();

  /// Of tries that were sent at `tried_at`. Takes out of the results what it needs.
  void answered(std::span<const std::shared_ptr<waiter>> heads, std::span<acquire_result> results,
                boot_clock::time_point tried_at) noexcept;
  void were_read(std::span<const lock_key> keys,
                 std::span<const std::optional<row_state>> states) noexcept;
  /// How many of the keys are still waited for.
  std::size_t read_failed(std::span<const lock_key> keys, const std::exception_ptr& fault) noexcept;

  /// The waiter who may have the key of a lease that ends after so many handoffs; until one of the
  /// next three is called, no try is made for it. Null: the key is to be released.
  std::shared_ptr<waiter> begin_handoff(const lock_key& key, unsigned handoffs);
  void end_handoff(const std::shared_ptr<waiter>& next, grant granted);
  /// A try is made for it.
  void handoff_refused(waiter& next);
  /// The same; after a doubt the row of the lease with version `handed_by` may be its own.
  void handoff_failed(const std::shared_ptr<waiter>& next, const std::exception_ptr& fault,
                      version handed_by);

 private:
  // These are called with the mutex held.
  [[nodiscard]] contention_backoff* backoff_of(const lock_key& key);
  void track(const lock_key& key);
  [[nodiscard]] key_queue* queue_of(const lock_key& key);
  void forget_if_empty(const lock_key& key);
  /// Of a new queue.
  void begin(key_queue& queue, bool is_first_try_due, boot_clock::time_point now);
  /// The row may be free: a try is due, as soon as other processes have had theirs.
  void try_in_turn(key_queue& queue, boot_clock::time_point now);
  waiters take_due_heads(boot_clock::time_point now);
  /// During an outage: one whose own pause is over, of one queue after the other.
  waiters take_one_due_head(boot_clock::time_point now);
  std::vector<lock_key> take_keys(boot_clock::time_point now);
  [[nodiscard]] boot_clock::time_point next_read(boot_clock::time_point now) const;
  /// When the next try is due, if nothing happens before.
  [[nodiscard]] boot_clock::time_point next_attempt() const;
  void answered(const std::shared_ptr<waiter>& head, acquire_result& result,
                boot_clock::time_point tried_at, pending_results& ended);
  void was_read(const lock_key& key, const std::optional<row_state>& seen, pending_results& ended);
  /// A read, or a try for `tried_one`, failed. Whether the key is still waited for.
  bool failed(const lock_key& key, const std::exception_ptr& fault, const waiter* tried_one,
              pending_results& ended);
  std::optional<departure> depart(waiter& leaving);
  /// False if it has left.
  bool remove(waiter& leaving);
  void try_again(waiter& next);

  const std::shared_ptr<time_source> time_;
  const grant_sink sink_;
  outage& outage_;

  std::mutex mutex_;
  // All below are guarded by mutex_.
  std::condition_variable wake_;
  std::map<lock_key, key_queue> queues_;
  std::map<lock_key, contention_backoff> backoffs_;  // of keys that have or had queues
  boot_clock::time_point last_read_;
  boot_clock::time_point last_new_queue_;
  lock_key last_tried_;  // in an outage
  bool has_notifications_ = false;
  bool is_in_call_ = false;  // for the work that was returned last
  bool is_stopped_ = false;
};

}  // namespace rowlock::detail

#endif
