// Locks that live and die with a transaction, and compare-and-set inside one.
#ifndef ROWLOCK_ROW_LOCK_HPP
#define ROWLOCK_ROW_LOCK_HPP

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "rowlock/lock_key.hpp"
#include "rowlock/outcome.hpp"
#include "rowlock/retry.hpp"
#include "rowlock/row_transaction.hpp"

namespace rowlock {

/// One row that a transaction holds, with the version it was given at the lock. A rollback gives
/// the old version back, so the number is no token for systems outside the database.
struct locked_row {
  lock_key key;
  rowlock::version version;
};

/// All rows of one `lock_rows`, in locking order. They are unlocked by the end of the transaction
/// and by nothing else.
struct row_lock {
  std::vector<locked_row> rows;
};

/// Begins a transaction on `connection`, locks the rows in it, runs `callback(transaction)`, and
/// commits when it returns. When it throws, the transaction is rolled back, the rows'
/// `failure_count` goes up (best effort) and the exception passes through unchanged.
///
/// Refused, with no callback run and no transaction left, when a row is leased, or locked by
/// another transaction, for longer than `wait`. Never refused as stale: at REPEATABLE READ and
/// above a row that changed after the snapshot is busy, and each try takes a new snapshot. Nobody
/// is kept waiting for a missing row: it is created before the transaction begins.
///
/// Round trips: begin, lock, commit. Throws `error`: unavailable when the connection is lost before
/// the callback, outcome_unknown when the answer to the commit got lost. A commit that the database
/// refuses throws the driver's exception.
///
/// A callback that calls `abort()` on the transaction and returns rolls back quietly: the outcome
/// is acquired, and nothing is committed. A callback must not call `commit()` (misuse): our own
/// kinds of transaction throw before anything is committed. Those of libpqxx, which cannot be kept
/// from it, commit, and then this call throws; statements like COMMIT, sent by the callback itself,
/// are found at the end, and on libpqxx not at all.
///
/// `Transaction` names the isolation level: `pqxx::work`, `pqxx::transaction<...>`,
/// `rowlock::sqlite_transaction`, `rowlock::soci_transaction`, `rowlock::memory_transaction`. While
/// it lasts the connection is taken: a callback that locks again needs another connection.
template <class Transaction, class Connection, class Callback>
auto with_row_lock(Connection& connection, const lock_keys& keys, const wait_policy& wait,
                   Callback&& callback,
                   const typename row_transaction<Transaction>::table_type& table = {})
    -> outcome<typename detail::checked_callback<Transaction, Callback>::result> {
  using rows = row_transaction<Transaction>;
  std::optional<Transaction> transaction;
  auto refused = detail::wait_for_rows(wait, [&](std::chrono::milliseconds slice) {
    return rows::begin_locked(transaction, connection, keys, slice, table);
  });
  if (refused) return *std::move(refused);

  auto counting = [&](Transaction& work) -> decltype(auto) {
    try {
      return std::invoke(callback, work);
    } catch (...) {
      transaction.reset();
      rows::count_failure(connection, keys, table);
      throw;
    }
  };
  return detail::run_and_commit(*transaction, counting, [] { return std::optional<refusal>{}; });
}

/// One try, and the lock table of the usual name; one key, or several in braces.
template <class Transaction, class Connection, class Callback>
auto with_row_lock(Connection& connection, const lock_key& key, Callback&& callback)
    -> outcome<typename detail::checked_callback<Transaction, Callback>::result> {
  return with_row_lock<Transaction>(connection, lock_keys{key}, no_wait(), callback);
}
template <class Transaction, class Connection, class Callback>
auto with_row_lock(Connection& connection, std::initializer_list<lock_key> keys,
                   Callback&& callback)
    -> outcome<typename detail::checked_callback<Transaction, Callback>::result> {
  return with_row_lock<Transaction>(connection, lock_keys{keys}, no_wait(), callback);
}

/// Begins a transaction on `connection`, reads the version of `key`, runs `callback(transaction)`,
/// and commits only if the version is still the same, moving it. Otherwise the work rolls back and
/// the outcome is refused (stale): run it all again, `retry` does. Refused before the callback when
/// the row is leased (held) or cannot be had at this moment (busy), and when the transaction could
/// not begin within `wait` (timed out, stopped; only where there is one writer at a time: SQLite).
///
/// Read the application's rows inside the callback, not before: the version must be older than
/// they.
///
/// Round trips: begin, read, compare-and-set, commit. Throws `error`, as `with_row_lock` does; an
/// exception of the callback rolls back and passes through unchanged. What `with_row_lock` says of
/// a callback that calls `commit()` or `abort()` holds here.
template <class Transaction, class Connection, class Callback>
auto with_optimistic_commit(Connection& connection, const lock_key& key, Callback&& callback,
                            const typename row_transaction<Transaction>::table_type& table = {},
                            const wait_policy& wait = std::chrono::seconds{1})
    -> outcome<typename detail::checked_callback<Transaction, Callback>::result> {
  using rows = row_transaction<Transaction>;
  std::optional<Transaction> transaction;
  auto refused = detail::wait_for_rows(wait, [&](std::chrono::milliseconds slice) {
    return rows::begin(transaction, connection, slice);
  });
  if (refused) {
    refused->key = key;
    return *std::move(refused);
  }
  const auto seen = rows::read(*transaction, key, table);
  if (!seen.acquired()) return seen.refusal();

  return detail::run_and_commit(*transaction, callback, [&]() -> std::optional<refusal> {
    if (rows::try_commit(*transaction, key, *seen, table) == commit_result::committed) return {};
    return refusal{.reason = refusal_reason::stale, .key = key};
  });
}

/// A table of the application with an id and an integer version column. Each name is
/// `[A-Za-z_][A-Za-z0-9_]{0,62}`, the table may have a schema before a dot; other names are refused
/// as misuse.
struct versioned_table {
  std::string table;
  std::string id_column;
  std::string version_column;
};

/// The id of one such row.
using row_id = std::variant<std::int64_t, std::string>;

}  // namespace rowlock

#endif
