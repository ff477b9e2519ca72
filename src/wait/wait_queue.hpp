// Where the threads and continuations of one process wait for keys.
#ifndef ROWLOCK_WAIT_WAIT_QUEUE_HPP
#define ROWLOCK_WAIT_WAIT_QUEUE_HPP

#include <condition_variable>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "batch/acquire_each.hpp"
#include "rowlock/clock.hpp"
#include "rowlock/port/store.hpp"
#include "wait/contention_backoff.hpp"
#include "wait/key_queue.hpp"

namespace rowlock::detail {

class event_dispatcher;
class outage;
class pending_results;

/// What becomes of a grant.
struct grant_sink {
  /// Null: its deadline has come already, and it is given back.
  std::function<std::shared_ptr<lease_state>(const lease_request&, const acquire_answer&,
                                             boot_clock::time_point tried_one)>
      take_up;
  /// Nobody wants it any more.
  std::function<void(const lease_request&, version)> return_grant;
  /// Nobody wants it any more, if it is made after all: `waiter::handed_by`.
  std::function<void(const lease_request&, version handed_by)> return_if_granted;
};

/// A line for each key, and one thread that asks for all of them: rows that may be free are asked
/// for in one statement; now and then all rows are looked at in one statement, less than twice a
/// second when nobody has come for a while. Waiting costs no thread.
///
/// A fault that may pass ends no wait that is to outlast it. The observer is told of it once for
/// all who wait. While the database is away, one key after the other is asked for, to find its end.
///
/// Thread-safety: all members may be called from any thread, except from `waiter::done`.
class wait_queue final : private release_listener {
 public:
  wait_queue(store& rows, std::shared_ptr<time_source> time, grant_sink sink, outage& away,
             event_dispatcher& events);
  /// It must have been closed.
  ~wait_queue() override = default;

  /// Whether one who may wait need not ask: others of this process stand in line already, or it was
  /// heard a moment ago that other processes have the key, or are about to.
  [[nodiscard]] bool must_wait(const lock_key& key);

  /// What the first try of one who joins came to, if it has asked.
  struct first_try {
    std::optional<refusal> refused = std::nullopt;
    std::exception_ptr fault = nullptr;
  };
  /// Joins the line for its key, at the end (in doubt, first of all).
  /// Throws `error` (unavailable) when the system lets us start no thread, and what the store
  /// throws when it is to listen.
  std::shared_ptr<waiter> join(lease_request wanted, retry_policy policy, const first_try& first,
                               std::function<void(attempt_end)> done);

  struct departure {
    /// What the first in line was refused with last.
    refusal last;
    /// The store has not answered a question that is under way.
    bool is_unanswered = false;
    /// That question is for this one.
    bool is_being_tried = false;
    /// As in `waiter`: a grant that nobody takes is to be given back.
    std::optional<version> handed_by;
    /// Why the last try for it failed; null if it did not.
    std::exception_ptr fault = nullptr;
    /// It may have been granted.
    bool is_in_doubt = false;
  };
  /// Gives up: `done` will not be called, and a grant that is under way is given back. None: the
  /// answer is there, or will be in a moment.
  std::optional<departure> leave(waiter& leaving);
  /// The same, but the first in line is asked for once more, unless it is being asked for or the
  /// database is away; the answer is its end. None: that is so, or as above.
  std::optional<departure> leave_after_last_try(waiter& leaving);

  /// Hands the row of a lease that has ended over to the next in its line. None: nobody waits here
  /// who may have it at once, or it is the turn of other processes; it is to be released. Throws
  /// what the store throws; then the next one asks for the row by itself.
  std::optional<release_answer> handoff(const lease_state& ended, const release_request& how);

  /// The key may be free.
  void released(const lock_key& key) noexcept override;

  /// No statement begins any more; who waits has to leave.
  void stop();
  /// Ends the thread, after the statement under way. Nobody may wait any more.
  void close();

 private:
  void taken(const lock_key& key, const grant_times& lasts) noexcept override;
  void listening() noexcept override;
  /// Each part that has not been started yet.
  void start();
  void run();
  void try_heads(const waiters& heads);
  void read_all();
  [[nodiscard]] bool is_closed();
  /// Of the answers to those heads that begin there, and of the faults that end no wait.
  void note_faults(const waiters& heads, std::size_t begin,
                   std::span<const acquire_result> tried_one, boot_clock::time_point tried_at);
  void emit_fault(const lock_key& first, std::size_t keys, const std::exception_ptr& fault,
                  boot_clock::time_point tried_at);

  // These are called with the mutex held.
  [[nodiscard]] contention_backoff* backoff_of(const lock_key& key);
  void track(const lock_key& key);
  /// A new line.
  void begin(key_queue& queue, bool is_first_try_due, boot_clock::time_point now);
  /// The row may be free.
  void try_in_turn(key_queue& queue, boot_clock::time_point now);
  std::shared_ptr<waiter> take_next(const lease_state& ended);
  /// It asks for the row by itself.
  void handoff_failed(waiter& next);
  waiters take_due_heads(boot_clock::time_point now);
  /// While the database is away: one whose own pause is over, of one line after the other.
  waiters take_one_due_head(boot_clock::time_point now);
  [[nodiscard]] boot_clock::time_point next_read(boot_clock::time_point now) const;
  /// When there may be something to ask, if nothing happens before.
  [[nodiscard]] boot_clock::time_point next_attempt() const;
  /// Takes the fault out of what was asked.
  void answered(const std::shared_ptr<waiter>& head, acquire_result& tried_one,
                boot_clock::time_point tried_at, pending_results& ended);
  void answered(const lock_key& key, const std::optional<row_state>& seen, pending_results& ended);
  /// A look, or a question for `asked`, failed. Whether the key is still waited for.
  bool failed_for(const lock_key& key, const std::exception_ptr& fault, const waiter* tried_one,
                  pending_results& ended);
  /// To the first in line, who had asked.
  void was_granted(const lock_key& key);
  std::optional<departure> leave_queue(waiter& leaving);
  /// Takes it out of its line; false if it has left.
  bool take_out(waiter& taken);
  void forget_if_empty(const lock_key& key);

  store& rows_;
  const std::shared_ptr<time_source> time_;
  const grant_sink sink_;
  outage& outage_;
  event_dispatcher& events_;

  std::mutex mutex_;
  // All below are guarded by mutex_.
  std::condition_variable wake_;
  std::map<lock_key, key_queue> queues_;
  std::map<lock_key, contention_backoff> backoffs_;  // of keys that have or had lines
  boot_clock::time_point last_read_;
  boot_clock::time_point last_new_queue_;
  lock_key last_tried_;      // in an outage
  bool is_in_call_ = false;  // the thread is in a call of the store
  bool closed_ = false;

  std::mutex starting_;
  // All below are guarded by starting_, and stay as they are from the first join on.
  bool has_listened_ = false;
  std::unique_ptr<subscription> subscription_;
  std::thread thread_;
};

}  // namespace rowlock::detail

#endif
