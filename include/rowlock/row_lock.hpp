// Row locks that last for one transaction, and compare-and-set within one.
#ifndef ROWLOCK_ROW_LOCK_HPP
#define ROWLOCK_ROW_LOCK_HPP

#include <chrono>
#include <functional>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "rowlock/entity.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/outcome.hpp"
#include "rowlock/retry.hpp"
#include "rowlock/row_transaction.hpp"

namespace rowlock {

/// A row that a transaction has locked, with the version that the lock gave it. A rollback restores
/// the old version, so the number is no token for systems outside the database.
struct locked_row {
  lock_key key;
  rowlock::version version;
};

/// The rows of one `lock_rows`, in locking order. Only the end of the transaction unlocks them.
struct row_lock {
  std::vector<locked_row> rows;
};

/// Begins a transaction on `connection`, locks the rows in it, runs `callback(transaction)`, and
/// commits when it returns. If it throws, the transaction rolls back, the rows' `failure_count`
/// goes up (best effort), and the exception passes through unchanged.
///
/// Refused if a row is leased, or locked by another transaction, for longer than `wait`; then no
/// callback has run and no transaction is left. Never refused as stale: at REPEATABLE READ and
/// above a row that changed after the snapshot is busy, and each try takes a new snapshot. Missing
/// rows block no other caller: they are created before the transaction begins. Round trips: begin,
/// lock, commit. Throws `error`: unavailable if the connection is lost before the callback,
/// outcome_unknown if the answer to the commit was lost. A commit that the database refuses throws
/// the driver's exception.
///
/// A callback that calls `abort()` on the transaction and returns rolls back quietly: the outcome
/// is acquired, and nothing is committed. A callback must not call `commit()` (misuse). rowlock's
/// own transaction types throw before anything is committed. A libpqxx transaction commits, and
/// then this call throws. A COMMIT that it sends as a statement is found at the end (misuse).
///
/// An SQL error that the callback swallows may have ended the transaction: on PostgreSQL any error
/// outside a savepoint, elsewhere a deadlock or a full disk. This call then throws misuse, and
/// nothing is kept. On libpqxx 6 a failed `exec` rolls back: an `abort()` right after it is misuse
/// too.
///
/// `Transaction` names the isolation level: `pqxx::work`, `pqxx::transaction<...>`,
/// `rowlock::sqlite_transaction`, `rowlock::soci_transaction`, `rowlock::memory_transaction`. The
/// transaction occupies the connection: a callback that locks again needs another one.
template <class Transaction, class Connection, class Callback>
auto with_row_lock(Connection& connection, const lock_keys& keys, const wait_policy& wait,
                   Callback&& callback,
                   const typename row_transaction<Transaction>::table_type& table = {})
    -> outcome<typename detail::checked_callback<Transaction, Callback>::result> {
  using rows = row_transaction<Transaction>;
  const detail::transaction_report report{transaction_work::row_lock, keys.in_order().size(),
                                          [&] { return keys.in_order().front(); }};
  std::optional<Transaction> transaction;
  auto refused = detail::wait_for_rows(wait, [&](std::chrono::milliseconds slice) {
    return rows::begin_locked(transaction, connection, keys, slice, table);
  });
  if (refused) {
    report.emit_refused(*refused);
    return *std::move(refused);
  }
  report.emit(transaction_result::granted);

  auto counting = [&](Transaction& work) -> decltype(auto) {
    try {
      return std::invoke(callback, work);
    } catch (...) {
      transaction.reset();
      rows::count_failure(connection, keys, table);
      throw;
    }
  };
  return detail::run_and_commit(*transaction, counting, report,
                                [] { return std::optional<refusal>{}; });
}

/// One try, on the lock table of the default name; one key, or several in braces.
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
/// the outcome is refused (stale): run it all again, as `retry` does.
///
/// Refused before the callback if the row is leased (held) or cannot be had right now (busy), or,
/// on SQLite only, if the transaction could not begin within `wait` (timed out, stopped). Read the
/// application's rows inside the callback: the version must be older. Round trips: begin, read,
/// compare-and-set, commit. Throws `error` as `with_row_lock` does; an exception of the callback
/// rolls back and passes through unchanged. The rules of `with_row_lock` for `commit()` and
/// `abort()` in a callback hold here too.
template <class Transaction, class Connection, class Callback>
auto with_optimistic_commit(Connection& connection, const lock_key& key, Callback&& callback,
                            const typename row_transaction<Transaction>::table_type& table = {},
                            const wait_policy& wait = std::chrono::seconds{1})
    -> outcome<typename detail::checked_callback<Transaction, Callback>::result> {
  using rows = row_transaction<Transaction>;
  const detail::transaction_report report{transaction_work::optimistic_commit, 1,
                                          [&] { return key; }};
  std::optional<Transaction> transaction;
  auto refused = detail::wait_for_rows(wait, [&](std::chrono::milliseconds slice) {
    return rows::begin(transaction, connection, slice);
  });
  if (refused) {
    refused->key = key;
    report.emit_refused(*refused);
    return *std::move(refused);
  }
  const auto seen = rows::read(*transaction, key, table);
  if (!seen.acquired()) {
    report.emit_refused(seen.refusal());
    return seen.refusal();
  }

  return detail::run_and_commit(*transaction, callback, report, [&]() -> std::optional<refusal> {
    if (rows::try_commit(*transaction, key, *seen, table) == commit_result::committed) return {};
    return refusal{.reason = refusal_reason::stale, .key = key};
  });
}

}  // namespace rowlock

#endif
