// Leader election: work that one of many processes does for as long as it leads.
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

/// Options of a campaign and of the terms that it wins.
struct leader_options {
  /// These three apply to the lease of each term, as in `acquire_options`. With a short ttl a new
  /// leader follows soon after the old one died. With `at_most` a term ends, and other processes
  /// get theirs.
  std::optional<std::chrono::milliseconds> ttl = std::nullopt;
  std::optional<std::chrono::milliseconds> at_most = std::nullopt;
  std::optional<std::chrono::milliseconds> lock_delay = std::nullopt;
  /// The pauses while another process leads, after a fault, and after a term of this process. They
  /// start again from the shortest after a term that was longer than the longest pause. Limits and
  /// a stop are misuse here: a campaign goes on until its own stop is requested.
  retry_policy pauses = wait_forever();
};

/// Runs during a term. `term.token()` is the number of the term: greater than that of every leader
/// before. `over` is requested when the leadership is lost or the campaign is to stop; the callback
/// has to return soon then. Callbacks on `over` may run in the thread of `lease::lost()`.
using leader_callback = std::function<void(const lease& term, std::stop_token over)>;

/// Waits until it acquires `key`, and runs `callback` while it holds the key. When the callback has
/// returned it releases the key, so that the next process leads at once. Then it campaigns again,
/// whether the leadership was lost or given up.
///
/// Returns once `stop` is requested or the `lock_table` is destroyed. During a term it returns
/// after the callback has returned: a callback that ignores `over` delays all others. A callback
/// that does not want to lead again requests `stop` itself.
///
/// An exception of the callback releases the key, raises the row's `failure_count` and passes
/// through unchanged. Only `lease_lost`, which a fence throws, does not: it ends the term, and the
/// campaign goes on. Throws `error` of misuse and `rejected`. While the database is unavailable, or
/// its answer got lost, the campaign goes on. The observer of the `lock_table` is notified of each
/// such fault, as it is of each term (`acquired`, `lost`, `released`).
///
/// What a leader does outside the database may overlap with its successor's first steps, if it was
/// paused or cut off. Pass the number of the term to systems outside, and fence what is written
/// inside.
///
/// Blocks; the callback runs in the calling thread. Cost: that of waiting for a key.
ROWLOCK_EXPORT void run_while_leader(lock_table& locks, const lock_key& key,
                                     const std::stop_token& stop, const leader_callback& callback,
                                     const leader_options& options = {});

/// The current leader, as the row shows it.
struct leader {
  /// `lock_options::holder` of the leader: a good place for the address at which it is reached.
  std::string holder;
  /// The version of its grant.
  version term;
  /// The start of the term by the database's clock, UTC, `2026-01-31 12:00:00.000000`.
  std::string since;
  /// What is left of its lease if it is not renewed.
  std::chrono::microseconds remaining{};
};

/// The current leader; none if there is none. The answer may be out of date already: it is for
/// people and for finding the leader, not a proof. A key within a scope is `scoped(scope, key)`.
/// One round trip. Throws `error`.
ROWLOCK_EXPORT std::optional<leader> leader_of(store& rows, const lock_key& key);

}  // namespace rowlock

#endif
