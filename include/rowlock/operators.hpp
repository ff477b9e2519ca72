// Administration of a lock table: show a row, release it by force, delete idle rows.
#ifndef ROWLOCK_OPERATORS_HPP
#define ROWLOCK_OPERATORS_HPP

#include <chrono>
#include <cstddef>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "rowlock/detail/export.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/port/store.hpp"

namespace rowlock {

// All functions throw `error` and are thread-safe. `store::list` lists owned and closed rows.

/// Everything known about one row, including the transaction that has it; none if it is missing.
/// Two round trips, or one if it is missing.
ROWLOCK_EXPORT std::optional<row_state> show(store& rows, const lock_key& key);

/// Asks the holder of the key to yield it: see `lease::wanted`. Nothing is taken away, and a holder
/// that does not listen goes on. The row shows the last request until the key is granted again.
/// `by` is a label for people; empty: `host:pid`. Misuse: an empty reason, or one above 1,024
/// bytes. Three round trips, or more for about 100 ms if another transaction has the row.
ROWLOCK_EXPORT ask_result ask(store& rows, const lock_key& key, const std::string& reason,
                              const std::string& by = {});

struct force_result {
  /// `busy`: a transaction, for instance a fenced one, has the row for longer than a moment and
  /// keeps it until it ends; end its session first. `stale`: missing, at another version, or free.
  force_answer answer = force_answer::stale;
  /// The row afterwards, or the row that prevented the release. None if it is missing.
  std::optional<row_state> now = std::nullopt;
};

/// Takes the key from its holder, or opens a closed key, if the row is still at `expected` as it
/// was shown. The version moves, so the holder's next renewal, release or fence finds the lease
/// lost. The holder notices at its next renewal or its deadline. Until it checks, its work outside
/// the database goes on.
///
/// The row keeps `reason` and then the author: `by`, or `host:pid` if that is empty. Together they
/// have at most about 1,000 bytes of UTF-8; an empty reason is misuse. Three round trips, or more
/// for about 100 ms if another transaction has the row. After `outcome_unknown` call it again: if
/// it was done, the answer is `stale`, and the row has the reason.
ROWLOCK_EXPORT force_result force_release(store& rows, const lock_key& key, version expected,
                                          const std::string& reason, const std::string& by = {});

struct purge_result {
  std::size_t purged = 0;
  /// All rows were examined; false if a stop came first.
  bool is_complete = false;
  /// How many idle rows the database refused to delete, and the first ten of their keys.
  std::size_t refused = 0;
  std::vector<lock_key> refused_keys = {};
};

/// Deletes the rows that were not touched for `older_than`, at least an hour, and that are unowned,
/// not closed, and remember nothing. Safe at any time: a key that comes back gets a greater version
/// than before, unless the database's clock goes back by `older_than`.
///
/// Each transaction examines `batch` rows, 1 to 10,000. A requested `stop` ends the purge between
/// two of them. One round trip a batch; more if the database refuses to delete a row, for instance
/// because of a foreign key. All others are still deleted. After a fault another call goes on.
ROWLOCK_EXPORT purge_result purge(store& rows, std::chrono::microseconds older_than,
                                  std::size_t batch = 1000, const std::stop_token& stop = {});

/// Deletes events of the history that are older than `older_than`, the oldest first. Two round
/// trips a batch. Otherwise as `purge`.
ROWLOCK_EXPORT purge_result purge_history(store& rows, std::chrono::microseconds older_than,
                                          std::size_t batch = 1000,
                                          const std::stop_token& stop = {});

}  // namespace rowlock

#endif
