// Row locks, versions and fences inside the application's own pqxx transaction.
#ifndef ROWLOCK_POSTGRES_HPP
#define ROWLOCK_POSTGRES_HPP

#include <chrono>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>

#include "rowlock/detail/export.hpp"
#include "rowlock/entity.hpp"
#include "rowlock/fence.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/outcome.hpp"
#include "rowlock/retry.hpp"
#include "rowlock/row_lock.hpp"
#include "rowlock/row_transaction.hpp"
#include "rowlock/table_name.hpp"

namespace pqxx {
class transaction_base;
}

namespace rowlock {

// All functions run on the caller's transaction and thread, and throw `error`. A refusal leaves the
// transaction usable. Misuse: a `pqxx::nontransaction` or an ended transaction, both detected
// without a round trip, and a transaction in which a statement has failed. An error from the server
// (a broken connection, a missing privilege) has ended the transaction, as always.

/// Locks the rows until the transaction ends, and moves their versions in it. Missing rows are
/// created in the transaction as well, so that concurrent callers are refused rather than blocked.
/// With more than 16 missing rows, other new keys may be refused too (busy) until the transaction
/// ends: create many new rows before, or use `with_row_lock`, which does.
///
/// Waits as `wait` says, for row locks in the server and for leases by polling. A transaction that
/// waits in its first statement keeps its place in the server's queue for 10 s at a time, or 1 s if
/// `attempts` are limited or a stop can be requested. If the transaction has written or locked
/// before, that is 0.9 of the server's `deadlock_timeout`. No wait exceeds half of
/// `statement_timeout`.
///
/// Refused: held (leased), busy (locked), timed_out, stopped, or stale: at REPEATABLE READ and
/// above, another transaction changed a row after this transaction's snapshot. Then start it again.
/// One round trip if the rows can be had at once; one more for a single row that is refused or
/// missing, and one more for a busy row. A refused attempt keeps none of the rows.
ROWLOCK_EXPORT outcome<row_lock> lock_rows(pqxx::transaction_base& transaction,
                                           const lock_keys& keys, const wait_policy& wait,
                                           const postgres_table& table = {});

/// The version of an unowned row, for `try_commit` at the end of the same transaction. Call it
/// before reading what the version protects. Creates a missing row, and unsets a lease that has run
/// out, in this transaction. Refused: held, busy, or stale (see `lock_rows`). One round trip; five
/// more if the row must be created or unset.
ROWLOCK_EXPORT outcome<version> read_version(pqxx::transaction_base& transaction,
                                             const lock_key& key, const postgres_table& table = {});

/// Moves the version of `key` if it is still `seen`, and the row is unowned and not closed. Stale:
/// roll back. Never waits for another transaction. One round trip; one more if stale.
ROWLOCK_EXPORT commit_result try_commit(pqxx::transaction_base& transaction, const lock_key& key,
                                        version seen, const postgres_table& table = {});

/// The same for a row of the application: moves its version column (adds one to a number, moves a
/// time to the clock) if it is still `seen`. Write the other columns with your own SQL. Waits for a
/// transaction that has changed the same row, and is stale if that one commits. One round trip.
/// Throws `error`; rejected for a version that did not move: see `version_kind`.
ROWLOCK_EXPORT commit_result try_commit(pqxx::transaction_base& transaction,
                                        const versioned_table& table, const row_id& id,
                                        std::int64_t seen);

/// The version of a row of the application, for that `try_commit`. Refused: missing. One round
/// trip. Throws `error`; rejected if the version column has no such value.
ROWLOCK_EXPORT outcome<std::int64_t> read_version(pqxx::transaction_base& transaction,
                                                  const versioned_table& table, const row_id& id);

/// Locks one row of the application until the transaction ends: `SELECT ... FOR NO KEY UPDATE`, or
/// `FOR UPDATE` if `table.lock` asks for it, with a limit. Read the row's columns after this call.
/// Needs no lock table.
///
/// Waits in the server's queue as `wait` says, whatever `lock_timeout` is set: 10 s at a time, or 1
/// s if `attempts` are limited or a stop can be requested, and never more than half of a
/// `statement_timeout`. Waits for a lock of the whole table (ALTER TABLE) in the same way; for a
/// lock of one partition `lock_timeout` is the limit. A wait for the row that times out is an error
/// in the server's log.
///
/// Refused, in a transaction that stays usable: missing, busy (locked), timed_out, stopped,
/// deadlock (the transaction still has the rows that the other one waits for), and stale: at
/// REPEATABLE READ and above, the row was changed after the transaction's snapshot. After deadlock
/// and stale roll back and begin again, as `retry` does.
///
/// Without a wait, a row that another transaction has just deleted may be busy. Rejected: a view
/// and a foreign table. Needs the language plpgsql, which is there unless it was revoked. Two round
/// trips if the row is free, missing, or not waited for; five more for a wait, six for each further
/// one.
ROWLOCK_EXPORT outcome<void> lock_entity(pqxx::transaction_base& transaction,
                                         const entity_table& table, const row_id& id,
                                         const wait_policy& wait);

/// Proves that the leases are still held, and that no other process can take them over before the
/// transaction ends. If a lease is not held, or is past its own deadline though not taken over,
/// ends the transaction (`abort`) and throws `lease_lost`. Then nothing commits, even if the
/// exception is swallowed. A lease that is found lost is marked so at once.
///
/// At READ COMMITTED make it the last statement before the commit. At REPEATABLE READ and above
/// make it the first: otherwise a renewal after the transaction's snapshot makes it fail with the
/// driver's serialization failure. Misuse inside a `pqxx::subtransaction`, whose rollback would
/// undo it. Renewals go on, but do not move the leases' deadlines while the fence is open.
///
/// After an error that was swallowed, libpqxx's `commit()` returns although the server has rolled
/// back. `run_fenced` finds that, and so does a fence that comes last (misuse). One round trip;
/// more for about 100 ms if a renewal has a row at that moment.
ROWLOCK_EXPORT void fence(pqxx::transaction_base& transaction, const fenced_leases& leases,
                          const fence_options& options = {}, const postgres_table& table = {});

/// A fence that also unsets the rows when the transaction commits, so no release needs to be sent.
/// After a rollback the leases are still held. Misuse: options out of range. Cost: as `fence`.
ROWLOCK_EXPORT void release_with(pqxx::transaction_base& transaction, const fenced_leases& leases,
                                 const release_options& options = {},
                                 const postgres_table& table = {});

namespace detail {

/// As `fence` or `release_with`. Returns the transaction's name for a `postgres_witness`.
ROWLOCK_EXPORT std::string prove_named(pqxx::transaction_base& transaction,
                                       const fenced_leases& leases,
                                       const fenced_run_options& options,
                                       const postgres_table& table);

/// At most one is set. Neither: a row is missing.
struct postgres_attempt {
  std::optional<row_lock> locked;
  std::optional<refusal> refused;
};
ROWLOCK_EXPORT postgres_attempt lock_existing_rows(pqxx::transaction_base& transaction,
                                                   const lock_keys& keys,
                                                   std::chrono::milliseconds slice,
                                                   const postgres_table& table);
/// Also commits. Unowned rows are harmless, so no outcome of this is in doubt.
ROWLOCK_EXPORT void create_rows(pqxx::transaction_base& transaction, const lock_keys& keys,
                                const postgres_table& table);
ROWLOCK_EXPORT void count_failures(pqxx::transaction_base& transaction, const lock_keys& keys,
                                   const postgres_table& table);
/// Lets `retry` and `run_fenced` recognise a conflict even in the application's first statement.
ROWLOCK_EXPORT void recognise_postgres_conflicts() noexcept;
/// Throws the `error` for an exception of a transaction's constructor that is being handled.
[[noreturn]] ROWLOCK_EXPORT void throw_failed_begin();
/// Called before a callback gets the transaction; `was_aborted` is called after it. No round trip.
ROWLOCK_EXPORT void lend_to_callback(pqxx::transaction_base& transaction) noexcept;
/// Whether a callback has rolled back. Throws `error` (misuse) if it has committed, or if a failed
/// statement has aborted the transaction.
ROWLOCK_EXPORT bool was_aborted(pqxx::transaction_base& transaction);
/// Throws the `error` for an exception of a commit that is being handled.
[[noreturn]] ROWLOCK_EXPORT void throw_failed_commit();

}  // namespace detail

template <class Transaction>
requires std::derived_from<Transaction, pqxx::transaction_base>
struct row_transaction<Transaction> {
  using table_type = postgres_table;

  template <class Connection>
  static std::optional<refusal> begin(std::optional<Transaction>& transaction,
                                      Connection& connection, std::chrono::milliseconds /*slice*/) {
    detail::recognise_postgres_conflicts();
    try {
      transaction.emplace(connection);
    } catch (...) {
      detail::throw_failed_begin();
    }
    return {};
  }

  template <class Connection>
  static std::optional<refusal> begin_locked(std::optional<Transaction>& transaction,
                                             Connection& connection, const lock_keys& keys,
                                             std::chrono::milliseconds slice,
                                             const postgres_table& table) {
    return detail::begin_and_lock(
        keys.in_order().front(), [&] { begin(transaction, connection, slice); },
        [&] { return detail::lock_existing_rows(*transaction, keys, slice, table); },
        [&] { detail::create_rows(*transaction, keys, table); }, [&] { transaction.reset(); });
  }

  static outcome<version> read(Transaction& transaction, const lock_key& key,
                               const postgres_table& table) {
    return read_version(transaction, key, table);
  }

  static commit_result try_commit(Transaction& transaction, const lock_key& key, version seen,
                                  const postgres_table& table) {
    return rowlock::try_commit(transaction, key, seen, table);
  }

  static void fence(Transaction& transaction, const fenced_leases& leases,
                    const fence_options& options, const postgres_table& table) {
    rowlock::fence(transaction, leases, options, table);
  }

  static void release_with(Transaction& transaction, const fenced_leases& leases,
                           const release_options& options, const postgres_table& table) {
    rowlock::release_with(transaction, leases, options, table);
  }

  static std::string prove_named(Transaction& transaction, const fenced_leases& leases,
                                 const fenced_run_options& options, const postgres_table& table) {
    return detail::prove_named(transaction, leases, options, table);
  }

  static void commit(Transaction& transaction) {
    try {
      transaction.commit();
    } catch (...) {
      detail::throw_failed_commit();
    }
  }

  static void lend(Transaction& transaction) noexcept { detail::lend_to_callback(transaction); }
  static bool take_back(Transaction& transaction) { return !detail::was_aborted(transaction); }

  template <class Connection>
  static void count_failure(Connection& connection, const lock_keys& keys,
                            const postgres_table& table) noexcept {
    try {
      Transaction counting{connection};
      detail::count_failures(counting, keys, table);
      counting.commit();
    } catch (...) {  // best effort: the callback's own exception matters more
    }
  }
};

}  // namespace rowlock

#endif
