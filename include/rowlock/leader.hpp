// Leader election: work that one of many processes does for as long as it leads.
#ifndef ROWLOCK_LEADER_HPP
#define ROWLOCK_LEADER_HPP

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "rowlock/lease.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/port/store.hpp"
#include "rowlock/retry.hpp"

namespace rowlock {

/// What holds for a campaign and for the terms it wins.
struct leader_options {
  /// Of the lease of each term, as in `acquire_options`. A short ttl finds a new leader soon after
  /// the old one died; with `at_most`, a term has an end and others get their turn.
  std::optional<std::chrono::milliseconds> ttl = std::nullopt;
  std::optional<std::chrono::milliseconds> at_most = std::nullopt;
  std::optional<std::chrono::milliseconds> lock_delay = std::nullopt;
  /// The pauses: while somebody else leads, after a fault, and after a term of our own; they begin
  /// anew after a term that was longer than the longest of them. Limits and a stop are misuse here:
  /// a campaign goes on until its own stop is requested.
  retry_policy pauses = wait_forever();
};

/// Runs during a term. `term.token()` is the number of the term: greater than that of every leader
/// before. `over` is requested when the leadership is lost or the campaign is to stop; then it
/// returns soon. (Callbacks on `over` may run in the thread of `lease::lost()`.)
using leader_callback = std::function<void(const lease& term, std::stop_token over)>;

/// Waits until `key` can be had, runs `callback` while it is ours, resigns when that has returned
/// (the key is released, so that the next one leads at once), and campaigns again, whether the
/// leadership was lost or given up. It returns once `stop` is requested or the `lock_table` is
/// destroyed; during a term, after the callback has returned: who leads on against a stop keeps
/// everybody waiting. A callback that wants to lead no more requests `stop` itself.
///
/// An exception of the callback passes through unchanged after the resignation, and the row's
/// `failure_count` goes up; but for `lease_lost`, which a fence throws: it ends the term, and the
/// campaign goes on. Throws `error` of misuse and `rejected`. While the database is
/// unavailable, or its answer got lost, the campaign goes on: the observer of the `lock_table` is
/// told of each such fault, as it is of each term (`acquired`, `lost`, `released`).
///
/// What a leader does outside the database may overlap with its successor's first steps, if it was
/// paused or cut off: hand the term to the outside, fence what is written inside.
///
/// Blocks; the callback runs in the calling thread. Cost: that of waiting for a key.
void run_while_leader(lock_table& locks, const lock_key& key, const std::stop_token& stop,
                      const leader_callback& callback, const leader_options& options = {});

/// Who leads, as everybody can see it.
struct leader {
  /// `lock_options::holder` of the leader: a good place for the address at which it is reached.
  std::string holder;
  /// The version of its grant.
  version term;
  /// Database clock, UTC, `2026-01-31 12:00:00.000000`.
  std::string since;
  /// Of its lease, should it not be renewed.
  std::chrono::microseconds remaining{};
};

/// None: nobody leads now. What is answered may have changed already: it is for people, and for
/// finding the leader, not a proof. A key within a scope is `scoped(scope, key)`. One round trip.
/// Throws `error`.
std::optional<leader> leader_of(store& rows, const lock_key& key);

}  // namespace rowlock

#endif
