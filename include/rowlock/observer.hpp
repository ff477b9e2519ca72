// What happens to the leases of a lock_table, for logs and metrics.
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

// All durations are by the holder's clock, unless it says otherwise.

/// An attempt got its lease.
struct acquired_event {
  lock_key key = {};
  version token = {};
  /// From the call to its end; `waited` of it in line.
  std::chrono::microseconds took{};
  std::chrono::microseconds waited{};
};

/// An attempt got a refusal.
struct refused_event {
  rowlock::refusal refusal = {};
  std::chrono::microseconds took{};
  std::chrono::microseconds waited{};
};

/// An attempt has waited in line; how it ended is told next.
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
  /// The label of the one who let it run out, for people.
  std::string holder = {};
  /// How long ago it had run out, by the database's clock.
  std::chrono::microseconds ran_out_ago{};
};

struct renewed_event {
  lock_key key = {};
  version token = {};
  /// The statement, which may have renewed others as well.
  std::chrono::microseconds took{};
  /// What was left until the deadline when the answer came: near zero, it was a near miss.
  std::chrono::microseconds left{};
};

enum class loss_reason {
  ran_out,     ///< Its deadline came before it was renewed.
  taken_away,  ///< A renewal, a fence or the release found that the row is not ours any more.
  closed,      ///< Its `lock_table` was destroyed.
};

struct lost_event {
  lock_key key = {};
  version token = {};
  loss_reason reason = loss_reason::ran_out;
  /// Since it was asked for.
  std::chrono::microseconds held{};
};

/// The holder gave the key back.
struct released_event {
  lock_key key = {};
  version token = {};
  /// `deferred` is followed by `released` when a later try finds the row and unsets it. Never
  /// `lost`: that is a `lost_event`.
  release_result result = release_result::released;
  /// The callback threw.
  bool failed = false;
  /// The call, or the statement of a later try. Zero: a transaction has unset the row.
  std::chrono::microseconds took{};
  /// Since it was asked for, until the holder gave it back.
  std::chrono::microseconds held{};
};

enum class fault_operation { acquire, read, renew, release, note };

/// The store failed. Of `acquire`, `read` and `note` the caller gets the `error` as well, but for
/// one who waits and is to outlast it (`retry_policy::through_outages`): each question in vain is
/// an event, for all who wait together, and how the attempt ends is another. A renewal or a release
/// is tried again in the background.
struct fault_event {
  fault_operation operation = fault_operation::acquire;
  /// Of several, the first.
  lock_key key = {};
  /// How many keys the call was about.
  std::size_t keys = 1;
  /// The `error`'s; empty for an exception that is no `error`, which a store of your own may throw.
  std::error_code code = {};
  /// Its `what()`, which of an `error` says what to do next and holds no secret.
  std::string text = {};
  std::chrono::microseconds took{};
};

/// A setting of the database weakens a promise: a commit that was acknowledged can be lost in a
/// crash, for instance.
struct weak_setting_event {
  /// For people: what may go wrong, and what to set.
  std::string text = {};
};

/// For people: `run out`, `acquire`.
std::ostream& operator<<(std::ostream& out, loss_reason shown);
std::ostream& operator<<(std::ostream& out, fault_operation shown);

/// Override what you want to hear of, and set it as `lock_options::observer`.
///
/// Threads: all members are called from one thread of the `lock_table`, one event at a time, which
/// does nothing else: neither in the caller's thread nor with a lock of the library held. So an
/// observer may call anything, and may be slow: no lease, no `lost()` and nobody who waits is
/// delayed by it. One that is set in several lock_tables is called from a thread of each. Events of
/// one thread come in their order; of two threads they may pass each other (a lease can be told
/// lost before it is told acquired, when it was for moments only).
///
/// Limits: while 10,000 events wait to be told, new ones are dropped and counted by `missed`. A
/// grant that nobody wanted any more, and rows that a closing `lock_table` unsets, are not told as
/// released.
///
/// Errors: an exception of an observer is swallowed; the next event is told all the same.
///
/// Lifetime: shared with the `lock_table`, whose destructor waits until the events so far are told
/// (not when an event itself destroys it: then they are told afterwards). Cost: one queued call an
/// event; no round trip. Nothing where there is no observer.
class observer {
 public:
  observer() = default;
  observer(const observer&) = delete;
  observer& operator=(const observer&) = delete;
  virtual ~observer() = default;

  virtual void acquired(const acquired_event& /*event*/) {}
  virtual void refused(const refused_event& /*event*/) {}
  virtual void waited(const waited_event& /*event*/) {}
  /// Told before the grant is. Not known of a grant whose first answer got lost.
  virtual void expired_takeover(const expired_takeover_event& /*event*/) {}
  virtual void renewed(const renewed_event& /*event*/) {}
  virtual void lost(const lost_event& /*event*/) {}
  virtual void released(const released_event& /*event*/) {}
  virtual void fault(const fault_event& /*event*/) {}
  /// Told once for each such setting, soon after the first attempt; the database is asked in the
  /// background.
  virtual void weak_setting(const weak_setting_event& /*event*/) {}
  /// So many events were dropped, because this observer is too slow.
  virtual void missed(std::size_t /*events*/) {}
};

}  // namespace rowlock

#endif
