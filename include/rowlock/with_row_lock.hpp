// Pessimistic mode: a callback inside the transaction that holds the rows.
#ifndef ROWLOCK_WITH_ROW_LOCK_HPP
#define ROWLOCK_WITH_ROW_LOCK_HPP

#include <functional>
#include <initializer_list>
#include <optional>
#include <utility>

#include "rowlock/lock_keys.hpp"
#include "rowlock/outcome.hpp"
#include "rowlock/retry_policy.hpp"
#include "rowlock/row_transaction.hpp"

namespace rowlock {

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

}  // namespace rowlock

#endif
