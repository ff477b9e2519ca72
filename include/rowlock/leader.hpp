// Leader election: work that one of many processes does while it leads.
#ifndef ROWLOCK_LEADER_HPP
#define ROWLOCK_LEADER_HPP

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "rowlock/detail/export.hpp"
#include "rowlock/lease.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/port/store.hpp"
#include "rowlock/retry.hpp"

namespace rowlock {

/// Options of a campaign and its terms.
struct leader_options {
  /// These three apply to each term's lease, as in `acquire_options`. A short ttl lets a new leader
  /// follow soon after the old one dies. `renew_for` ends a term, and others get theirs.
  std::optional<std::chrono::milliseconds> ttl = std::nullopt;
  std::optional<std::chrono::milliseconds> renew_for = std::nullopt;
  std::optional<std::chrono::milliseconds> lock_delay = std::nullopt;
  /// The pauses while another process leads, after a fault, and after a term of this process. After
  /// a term longer than the longest pause they restart from the shortest. Limits and a stop are
  /// misuse: a campaign goes on until its own stop is requested.
  retry_policy pauses = wait_forever();
};

/// Runs during a term. `term.token()` is the term's number, greater than that of every earlier
/// leader. `over` is requested when the leadership is lost, when the leader is asked to yield
/// (`lease::wanted`), or when the campaign is to stop; the callback must then return soon.
/// Callbacks on `over` may run in the thread of `lease::lost()`.
using leader_callback = std::function<void(const lease& term, std::stop_token over)>;

/// Waits until it acquires `key`, and runs `callback` while it holds the key. Releases the key when
/// the callback returns, so that the next process leads at once. Then campaigns again, also after a
/// loss; after a term in which it was asked to yield, twice the longest pause later, so that
/// another process leads if one wants to. Returns once `stop` is requested or the `lock_table` is
/// destroyed; during a term, once the callback has returned. So a callback that ignores `over`
/// delays all others. A callback that does not want to lead again requests `stop` itself.
///
/// An exception of the callback releases the key, raises the row's `failure_count` and passes
/// through unchanged. Only `lease_lost`, which a fence throws, does not: it ends the term, and the
/// campaign goes on. Throws `error` (misuse, rejected). The campaign goes on while the database is
/// unavailable, and after a lost answer. The `lock_table`'s observer is notified of each such fault
/// and of each term (`acquired`, `lost`, `released`).
///
/// If a leader was paused or cut off, its work outside the database may overlap with its
/// successor's first steps. Pass the term's number to outside systems, and fence writes inside the
/// database. Blocks; the callback runs in the calling thread. Cost: that of waiting for a key.
ROWLOCK_EXPORT void run_while_leader(lock_table& locks, const lock_key& key,
                                     const std::stop_token& stop, const leader_callback& callback,
                                     const leader_options& options = {});

/// The current leader, as the row shows it.
struct leader {
  /// `lock_options::holder` of the leader: a good place for its address.
  std::string holder;
  /// The version of its grant.
  version term;
  /// The start of the term by the database's clock, UTC, `2026-01-31 12:00:00.000000`.
  std::string since;
  /// What is left of its lease unless it is renewed.
  std::chrono::microseconds remaining{};
};

/// The current leader, or none. The answer may already be out of date and proves nothing. For a key
/// within a scope pass `scoped(scope, key)`. One round trip. Throws `error`.
ROWLOCK_EXPORT std::optional<leader> leader_of(store& rows, const lock_key& key);

}  // namespace rowlock

#endif
