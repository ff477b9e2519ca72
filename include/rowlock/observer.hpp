// Events of leases and transactions, for logs and metrics.
#ifndef ROWLOCK_OBSERVER_HPP
#define ROWLOCK_OBSERVER_HPP

#include <chrono>
#include <cstddef>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include "rowlock/clock.hpp"
#include "rowlock/detail/export.hpp"
#include "rowlock/detail/home_process.hpp"
#include "rowlock/lease.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/outcome.hpp"

namespace rowlock {

// Durations use the holder's clock unless noted. `correlation_id` is that of the attempt.

struct acquired_event {
  lock_key key = {};
  version token = {};
  /// From the call to its end. `waited` is the part of it in the wait queue.
  std::chrono::microseconds took{};
  std::chrono::microseconds waited{};
  std::string correlation_id = {};
};

struct refused_event {
  rowlock::refusal refusal = {};
  std::chrono::microseconds took{};
  std::chrono::microseconds waited{};
  std::string correlation_id = {};
};

/// An attempt has waited in the queue. The next event reports how it ended.
struct waited_event {
  lock_key key = {};
  std::chrono::microseconds waited{};
  std::string correlation_id = {};
};

/// A grant took over a lease that ran out: its holder died, hung, or could not reach the database,
/// or a crash undid the release.
struct expired_takeover_event {
  lock_key key = {};
  /// Of the new grant.
  version token = {};
  /// The former holder's label.
  std::string holder = {};
  /// How long ago, by the database's clock.
  std::chrono::microseconds ran_out_ago{};
  std::string correlation_id = {};
};

struct renewed_event {
  lock_key key = {};
  version token = {};
  /// Of the statement, which may have renewed other leases too.
  std::chrono::microseconds took{};
  /// The time left until the deadline when the answer came. Near zero, the lease was almost lost.
  std::chrono::microseconds left{};
  /// How long a renewal makes the lease valid, from its statement on: the ttl minus the margin.
  std::chrono::microseconds valid_for{};
  std::string correlation_id = {};
};

enum class loss_reason {
  ran_out,      ///< Its deadline came before a renewal.
  taken_away,   ///< A renewal, a fence or a release found that the row no longer has this grant.
  closed,       ///< Its `lock_table` was destroyed.
  no_progress,  ///< It was not renewed any more: see `lock_options::progress_within`.
};

struct lost_event {
  lock_key key = {};
  version token = {};
  loss_reason reason = loss_reason::ran_out;
  /// Since the acquisition was requested.
  std::chrono::microseconds held_for{};
  std::string correlation_id = {};
};

struct released_event {
  lock_key key = {};
  version token = {};
  /// `deferred` is followed by `released` if a later try unsets the row. Never `lost`. `passed_on`:
  /// the next holder's process reports the rest of the hold.
  release_result result = release_result::released;
  /// The callback threw.
  bool failed = false;
  /// Of the call, or of a later try's statement. Zero: a transaction has unset the row.
  std::chrono::microseconds took{};
  /// From the request of the acquisition to the holder's release.
  std::chrono::microseconds held_for{};
  std::string correlation_id = {};
};

enum class fault_operation { acquire, read, renew, release, note };

/// The store failed. The caller of `acquire`, `read` and `note` gets the `error` too, unless it
/// waits on. For waiters that outlast the fault (`retry_policy::through_outages`) each failed
/// statement is one event for all of them, and the end of each attempt is another. Renewals and
/// releases are retried in the background.
struct fault_event {
  fault_operation operation = fault_operation::acquire;
  /// The first of several keys.
  lock_key key = {};
  /// The number of keys of the call.
  std::size_t keys = 1;
  /// The code of the `error`; empty for other exceptions, as of an application's own store.
  std::error_code code = {};
  /// The exception's `what()`. That of an `error` says what to do next and contains no secret.
  std::string text = {};
  std::chrono::microseconds took{};
  /// Empty for a statement on several leases.
  std::string correlation_id = {};
};

/// A database setting weakens a promise: for instance, a crash can lose an acknowledged commit.
struct weak_setting_event {
  /// For people: what may go wrong, and what to set.
  std::string text = {};
};

/// What a call does in a transaction of the application.
enum class transaction_work {
  row_lock,           ///< `lock_rows`, `with_row_lock`
  entity_lock,        ///< `lock_entity`
  optimistic_commit,  ///< `try_commit`, `with_optimistic_commit`
  fence,              ///< `fence`, `release_with`, `run_fenced`
  retry,              ///< `retry`
};

enum class transaction_result {
  granted,      ///< The rows are locked, the version is moved, or the leases are proved.
  refused,      ///< They are not; `refusal` says why, if known. For `retry`: it gave up.
  committed,    ///< `with_row_lock`, `with_optimistic_commit` or `run_fenced` has committed.
  rolled_back,  ///< The callback threw or rolled back.
  conflict,     ///< A concurrent transaction won, or the database was away (`retry` with
                ///< `through_outages`). `retry` and `run_fenced` run the work again.
};

/// A step of a transaction. A fault of row locks or of the commit is thrown and causes no event.
struct transaction_event {
  transaction_work work = transaction_work::row_lock;
  transaction_result result = transaction_result::granted;
  /// The first of several; a row of the application as in `refusal::key`. Empty for `retry`.
  lock_key key = {};
  std::size_t keys = 1;
  /// From the call to this step. For `granted` and `refused`: how long it waited.
  std::chrono::microseconds took{};
  /// For the end of `with_row_lock`: the time since the grant. Otherwise zero.
  std::chrono::microseconds held_for{};
  /// For `retry` and `run_fenced`: the number of the try, from 1.
  unsigned attempt = 1;
  std::optional<rowlock::refusal> refusal = std::nullopt;
};

/// For people: `run out`, `acquire`, `row lock`, `rolled back`.
ROWLOCK_EXPORT std::ostream& operator<<(std::ostream& out, loss_reason shown);
ROWLOCK_EXPORT std::ostream& operator<<(std::ostream& out, fault_operation shown);
ROWLOCK_EXPORT std::ostream& operator<<(std::ostream& out, transaction_work shown);
ROWLOCK_EXPORT std::ostream& operator<<(std::ostream& out, transaction_result shown);

/// Override the events to receive. Set the object as `lock_options::observer` for events of leases,
/// and give it to a `transaction_observation` for events of transactions.
///
/// Threads: a thread of the `lock_table` (or of the observation) that does nothing else calls all
/// members, one event at a time, with no lock of the library held. So an observer may call
/// anything, and may be slow: it delays no lease, no `lost()` and no waiter. An observer that is
/// set in several lock_tables is called from a thread of each. Order: events of one thread come in
/// order. Events of two threads may overtake each other: a short lease can be reported lost before
/// it is reported acquired.
///
/// Limits: while 10,000 events are queued, new ones are dropped and counted by `missed`. Two kinds
/// of release cause no event: that of a grant that came too late for its caller, and that of rows
/// that a closing `lock_table` unsets. Errors: an exception of an observer is swallowed; the next
/// event is still delivered.
///
/// Lifetime: shared with the `lock_table`, whose destructor waits until all events so far are
/// delivered. If an event itself destroys the `lock_table`, the rest is delivered afterwards. Cost:
/// one queued call an event, no round trip; nothing without an observer.
class ROWLOCK_EXPORT observer {
 public:
  observer() = default;
  observer(const observer&) = delete;
  observer& operator=(const observer&) = delete;
  virtual ~observer() = default;

  virtual void acquired(const acquired_event& /*event*/) {}
  virtual void refused(const refused_event& /*event*/) {}
  virtual void waited(const waited_event& /*event*/) {}
  /// Called before `acquired`. Not called for a grant whose first answer was lost.
  virtual void expired_takeover(const expired_takeover_event& /*event*/) {}
  virtual void renewed(const renewed_event& /*event*/) {}
  virtual void lost(const lost_event& /*event*/) {}
  virtual void released(const released_event& /*event*/) {}
  virtual void fault(const fault_event& /*event*/) {}
  /// Called once for each such setting, soon after the first attempt; a background read finds them.
  virtual void weak_setting(const weak_setting_event& /*event*/) {}
  /// From a `transaction_observation` only.
  virtual void transaction(const transaction_event& /*event*/) {}
  /// This many events were dropped because this observer is too slow.
  virtual void missed(std::size_t /*events*/) {}
};

namespace detail {

class event_dispatcher;

/// The events of one call in a transaction, for the observations of this process. Does nothing if
/// there is none when it is made. Thread-safety: one thread at a time.
class ROWLOCK_EXPORT transaction_report {
 public:
  /// `key_of()` returns the first key; called only if there is an observation.
  template <class KeyOf>
  transaction_report(transaction_work work, std::size_t keys, const KeyOf& key_of,
                     unsigned attempt = 1) {
    if (!is_observed()) return;
    began_ = boot_clock::now();
    event_.emplace(
        transaction_event{.work = work, .key = key_of(), .keys = keys, .attempt = attempt});
  }

  void emit(transaction_result result) const noexcept {
    if (event_) emit(result, nullptr);
  }
  void emit_refused(const rowlock::refusal& why) const noexcept {
    if (event_) emit(transaction_result::refused, &why);
  }
  /// For a call that locks and returns an `outcome`.
  template <class Outcome>
  void emit_end(const Outcome& end) const noexcept {
    if (!event_) return;
    end.acquired() ? emit(transaction_result::granted) : emit_refused(end.refusal());
  }
  void emit_end(commit_result end) const noexcept {
    const bool is_moved = end == commit_result::committed;
    emit(is_moved ? transaction_result::granted : transaction_result::conflict);
  }

 private:
  static bool is_observed() noexcept;
  void emit(transaction_result result, const rowlock::refusal* why) const noexcept;

  boot_clock::time_point began_;
  mutable std::optional<boot_clock::time_point> granted_at_;
  std::optional<transaction_event> event_;  // without its result
};

}  // namespace detail

/// While it exists, `target` gets the events of all transactions of this process: row locks,
/// optimistic commits, fences, locks of the application's own rows, and `retry`. These have no
/// `lock_table` to name an observer. Several may exist, and each gets all events. Make one when the
/// process starts; a child of fork() makes its own. Threads, order and limits are those of an
/// observer. The destructor waits until all events so far are delivered.
///
/// Cost: without an observation a call reads one more atomic variable; with one, each event costs a
/// clock reading and a queued call. Throws `error`: misuse for no observer, unavailable if the
/// system cannot start a thread. Thread-safety: may be made and destroyed in any thread.
class ROWLOCK_EXPORT transaction_observation {
 public:
  explicit transaction_observation(std::shared_ptr<observer> target);
  transaction_observation(const transaction_observation&) = delete;
  transaction_observation& operator=(const transaction_observation&) = delete;
  ~transaction_observation();

 private:
  detail::owned_at_home<detail::event_dispatcher> events_;
};

}  // namespace rowlock

#endif
