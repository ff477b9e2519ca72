// Events of the leases of a lock_table, for logs and metrics.
#ifndef ROWLOCK_OBSERVER_HPP
#define ROWLOCK_OBSERVER_HPP

#include <chrono>
#include <cstddef>
#include <iosfwd>
#include <string>
#include <system_error>

#include "rowlock/lease.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/outcome.hpp"

namespace rowlock {

// Durations use the holder's clock unless stated otherwise.

/// An attempt got its lease.
struct acquired_event {
  lock_key key = {};
  version token = {};
  /// `took` is the time from the call to its end; `waited` is the part of it in the wait queue.
  std::chrono::microseconds took{};
  std::chrono::microseconds waited{};
};

/// An attempt got a refusal.
struct refused_event {
  rowlock::refusal refusal = {};
  std::chrono::microseconds took{};
  std::chrono::microseconds waited{};
};

/// An attempt has waited in the queue. The next event reports how it ended.
struct waited_event {
  lock_key key = {};
  std::chrono::microseconds waited{};
};

/// A grant took over the lease of a holder that neither renewed nor released it: it died, hung, or
/// could not reach the database.
struct expired_takeover_event {
  lock_key key = {};
  /// Of the new grant.
  version token = {};
  /// The label of the holder whose lease ran out, for people.
  std::string holder = {};
  /// How long ago it had run out, by the database's clock.
  std::chrono::microseconds ran_out_ago{};
};

struct renewed_event {
  lock_key key = {};
  version token = {};
  /// The time of the statement, which may have renewed other leases as well.
  std::chrono::microseconds took{};
  /// What was left until the deadline when the answer came. Near zero, the lease was almost lost.
  std::chrono::microseconds left{};
};

enum class loss_reason {
  ran_out,     ///< Its deadline came before it was renewed.
  taken_away,  ///< A renewal, a fence or the release found that the row no longer has this grant.
  closed,      ///< Its `lock_table` was destroyed.
};

struct lost_event {
  lock_key key = {};
  version token = {};
  loss_reason reason = loss_reason::ran_out;
  /// The time since the acquisition was requested.
  std::chrono::microseconds held{};
};

/// The holder released the key.
struct released_event {
  lock_key key = {};
  version token = {};
  /// `deferred` is followed by `released` if a later try unsets the row. Never `lost`: that is a
  /// `lost_event`.
  release_result result = release_result::released;
  /// The callback threw.
  bool failed = false;
  /// The time of the call, or of the statement of a later try. Zero: a transaction has unset the
  /// row.
  std::chrono::microseconds took{};
  /// The time from the request of the acquisition to the release by the holder.
  std::chrono::microseconds held{};
};

enum class fault_operation { acquire, read, renew, release, note };

/// The store failed. The caller of `acquire`, `read` and `note` gets the `error` as well. The
/// exception is a waiter that is to outlast the fault (`retry_policy::through_outages`): each
/// failed statement is one event for all waiters together, and the end of each attempt is another
/// event. A renewal or a release is retried in the background.
struct fault_event {
  fault_operation operation = fault_operation::acquire;
  /// The first of several keys.
  lock_key key = {};
  /// How many keys the call had.
  std::size_t keys = 1;
  /// The code of the `error`; empty for any other exception, which an application's own store may
  /// throw.
  std::error_code code = {};
  /// The `what()` of the exception. That of an `error` says what to do next and contains no secret.
  std::string text = {};
  std::chrono::microseconds took{};
};

/// A setting of the database weakens a promise: for instance, a crash can lose an acknowledged
/// commit.
struct weak_setting_event {
  /// For people: what may go wrong, and what to set.
  std::string text = {};
};

/// For people: `run out`, `acquire`.
std::ostream& operator<<(std::ostream& out, loss_reason shown);
std::ostream& operator<<(std::ostream& out, fault_operation shown);

/// Override the events to receive, and set the object as `lock_options::observer`.
///
/// Threads: one thread of the `lock_table`, which does nothing else, calls all members, one event
/// at a time. It is not the caller's thread, and no lock of the library is held. So an observer may
/// call anything, and may be slow: it delays no lease, no `lost()` and no waiter. An observer that
/// is set in several lock_tables is called from a thread of each.
///
/// Order: events of one thread come in their order. Events of two threads may pass each other: a
/// lease that lasted for moments can be reported lost before it is reported acquired.
///
/// Limits: while 10,000 events are queued, new ones are dropped and counted by `missed`. Two kinds
/// of release cause no event: that of a grant that came too late for its caller, and that of rows
/// that a closing `lock_table` unsets.
///
/// Errors: an exception of an observer is swallowed; the next event is delivered all the same.
///
/// Lifetime: shared with the `lock_table`, whose destructor waits until all events so far are
/// delivered. If an event itself destroys the `lock_table`, the rest is delivered afterwards. Cost:
/// one queued call an event, and no round trip; nothing without an observer.
class observer {
 public:
  observer() = default;
  observer(const observer&) = delete;
  observer& operator=(const observer&) = delete;
  virtual ~observer() = default;

  virtual void acquired(const acquired_event& /*event*/) {}
  virtual void refused(const refused_event& /*event*/) {}
  virtual void waited(const waited_event& /*event*/) {}
  /// Called before `acquired`. Not called for a grant whose first answer got lost.
  virtual void expired_takeover(const expired_takeover_event& /*event*/) {}
  virtual void renewed(const renewed_event& /*event*/) {}
  virtual void lost(const lost_event& /*event*/) {}
  virtual void released(const released_event& /*event*/) {}
  virtual void fault(const fault_event& /*event*/) {}
  /// Called once for each such setting, soon after the first attempt; the settings are read in the
  /// background.
  virtual void weak_setting(const weak_setting_event& /*event*/) {}
  /// This many events were dropped, because this observer is too slow.
  virtual void missed(std::size_t /*events*/) {}
};

}  // namespace rowlock

#endif
