// What a person on call asks of a lock table: who has it, take it away, clean up.
#ifndef ROWLOCK_OPERATORS_HPP
#define ROWLOCK_OPERATORS_HPP

#include <chrono>
#include <cstddef>
#include <optional>
#include <stop_token>
#include <string>

#include "rowlock/lock_key.hpp"
#include "rowlock/port/store.hpp"

namespace rowlock {

// All throw `error`, and may be called from any thread. `store::list` shows all rows that somebody
// has, or that stay closed.

/// Everything that is known of one row, also which transaction has it; none if there is no such
/// row. Two round trips, one if there is none.
std::optional<row_state> show(store& rows, const lock_key& key);

struct force_result {
  /// `busy`: a transaction has the row, for longer than a moment: one that is fenced, for instance.
  /// Then the row is its own until it ends; end its session first. `stale`: missing, at another
  /// version, or nobody's.
  force_answer answer = force_answer::stale;
  /// The row afterwards; of a refusal, what stood in the way. None if there is no such row.
  std::optional<row_state> now = std::nullopt;
};

/// Takes the key from its holder, or opens one that stays closed, if the row is still at `expected`
/// as it was shown. The version moves, so whatever the holder asks for from now on is lost: its
/// renewal, its release, its fence. It is told so at its next renewal or at its deadline; its work
/// outside the database goes on until it looks.
///
/// The row keeps `reason`, and after it who did this: `by`, or `host:pid` if that is empty. Both
/// together have at most about 1,000 bytes of UTF-8; an empty reason is misuse.
///
/// Three round trips, more for about 100 ms if somebody's transaction has the row. After
/// `outcome_unknown` ask again: if it was done, the answer is `stale`, and the row shows the
/// reason.
force_result force_release(store& rows, const lock_key& key, version expected,
                           const std::string& reason, const std::string& by = {});

struct purge_result {
  std::size_t purged = 0;
  /// All rows were looked at; otherwise a stop came before.
  bool is_complete = false;
};

/// Deletes the rows that nobody has touched for `older_than`, at least an hour, wherever nobody
/// has, closed, or remembers anything about them. Safe at any time: a key that comes back gets a
/// greater version than before, as long as the database's clock does not go back by `older_than`.
///
/// It looks at `batch` rows at a time, 1 to 10,000, each batch a transaction of its own, and ends
/// between two of them when `stop` is requested. One round trip a batch. What was deleted before a
/// fault stays deleted; asking again goes on.
purge_result purge(store& rows, std::chrono::microseconds older_than, std::size_t batch = 1000,
                   const std::stop_token& stop = {});

}  // namespace rowlock

#endif
