// Row locks, versions and fences inside the application's own transaction on a soci::session.
#ifndef ROWLOCK_SOCI_HPP
#define ROWLOCK_SOCI_HPP

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "rowlock/detail/export.hpp"
#include "rowlock/detail/home_process.hpp"
#include "rowlock/entity.hpp"
#include "rowlock/fence.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/outcome.hpp"
#include "rowlock/retry.hpp"
#include "rowlock/row_lock.hpp"
#include "rowlock/row_transaction.hpp"
#include "rowlock/table_name.hpp"

namespace soci {
class session;
}

namespace rowlock {

/// The lock table, and what the database cannot report about it.
struct soci_table {
  soci_table() = default;
  soci_table(table_name named,  // NOLINT(google-explicit-constructor)
             bool one_node_writes = false,
             std::optional<std::chrono::milliseconds> skew = std::nullopt)
      : table{std::move(named)}, one_writer_node{one_node_writes}, clock_skew{skew} {}
  soci_table(const char* name) : table{name} {}  // NOLINT(google-explicit-constructor)

  table_name table = {};
  /// All users of the table write through the same node of their cluster: Galera, or a MySQL group
  /// with several primaries. Otherwise row locks are misuse there: they are local to a node.
  bool one_writer_node = false;
  /// As `soci_options::clock_skew`, and the same for all users of the table. None: zero, or one
  /// second in a cluster unless one node writes.
  std::optional<std::chrono::milliseconds> clock_skew = std::nullopt;
};

/// A transaction for the functions below. It is at READ COMMITTED on MariaDB and MySQL, and at the
/// session's default on PostgreSQL. On SQLite it is IMMEDIATE, and waits until it is the writer.
/// Thread-safety: as its session, one thread at a time.
class ROWLOCK_EXPORT soci_transaction {
  /// Only `row_transaction` can make one.
  struct begun {
    explicit begun(std::shared_ptr<void> in) noexcept : kept{std::move(in)} {}
    std::shared_ptr<void> kept;
  };

 public:
  /// Begins. On SQLite it waits at most `turn_timeout` to become the writer, then throws `error`
  /// (unavailable). One round trip; two on MariaDB and MySQL.
  explicit soci_transaction(soci::session& session,
                            std::chrono::milliseconds turn_timeout = std::chrono::seconds{1});
  /// Owns the transaction that has just begun on `session`.
  soci_transaction(soci::session& session, begun by) noexcept
      : session_{session}, kept_{std::move(by.kept)} {}
  soci_transaction(const soci_transaction&) = delete;
  soci_transaction& operator=(const soci_transaction&) = delete;
  /// Rolls back unless committed; does nothing in a child of fork().
  ~soci_transaction();

  [[nodiscard]] soci::session& session() noexcept { return session_; }

  /// Throws `error`. Misuse after the transaction has ended (a fence ends it, a deadlock may) or
  /// was aborted by an error, so that nothing is kept; also in a callback of `with_row_lock`, which
  /// commits itself. outcome_unknown if the answer was lost. A conflict is thrown as the driver's
  /// exception. One round trip; on MariaDB and MySQL one more after a failed statement, and one
  /// without autocommit.
  void commit();
  /// Rolls back, if the transaction has not ended. Misuse if the session is not open.
  void abort();

 private:
  friend struct row_transaction<soci_transaction>;

  void end() noexcept;

  detail::home_process home_;
  soci::session& session_;
  std::shared_ptr<void> kept_;  // state of the backend until the transaction ends
  bool open_ = true;
  bool is_lent_ = false;
  bool is_aborted_ = false;
};

// All functions run on the caller's open transaction and throw `error`; a session without one is
// misuse, detected without a round trip. A refusal leaves the transaction usable.

/// Locks the rows until the transaction ends, and moves their versions in it. MariaDB and MySQL
/// need READ COMMITTED: the first overload knows the isolation that it began with, the second reads
/// the session's setting, and a higher level is misuse. See docs/databases/mariadb.md. Waits for
/// row locks and leases as `wait` says, on SQLite not at all. Refused: held, busy, timed_out,
/// stopped, or stale. A refused attempt keeps none of the rows.
ROWLOCK_EXPORT outcome<row_lock> lock_rows(soci_transaction& transaction, const lock_keys& keys,
                                           const wait_policy& wait, const soci_table& table = {});
ROWLOCK_EXPORT outcome<row_lock> lock_rows(soci::session& transaction, const lock_keys& keys,
                                           const wait_policy& wait, const soci_table& table = {});

/// The version of an unowned row, for `try_commit` at the end of the same transaction. Call it
/// before reading what the version protects. Creates a missing row, and unsets a lease that has run
/// out, in this transaction. Refused: held, busy, or on PostgreSQL stale.
ROWLOCK_EXPORT outcome<version> read_version(soci::session& transaction, const lock_key& key,
                                             const soci_table& table = {});

/// Moves the version of `key` if it is still `seen`, and the row is unowned and not closed. Stale:
/// roll back. Never waits for another transaction. One round trip; on PostgreSQL one more if stale.
ROWLOCK_EXPORT commit_result try_commit(soci::session& transaction, const lock_key& key,
                                        version seen, const soci_table& table = {});

/// The same for a row of the application: moves its version column (adds one to a number, moves a
/// time to the clock) if it is still `seen`. Write the other columns with your own SQL. It may wait
/// for a transaction that has changed the same row. One round trip; on MariaDB and MySQL two.
/// Rejected for a version that did not move: see `version_kind`.
ROWLOCK_EXPORT commit_result try_commit(soci::session& transaction, const versioned_table& table,
                                        const row_id& id, std::int64_t seen);

/// The version of a row of the application, for that `try_commit`. Refused: missing. One round
/// trip. Rejected if the version column has no such value, and for a table that is not InnoDB.
ROWLOCK_EXPORT outcome<std::int64_t> read_version(soci::session& transaction,
                                                  const versioned_table& table, const row_id& id);

/// Locks one row of the application until the transaction ends: `SELECT ... FOR UPDATE`, with a
/// limit. Read its columns after this call. Of `table`, only `one_writer_node` counts.
///
/// PostgreSQL: as in postgres.hpp. SQLite: as in sqlite.hpp; it needs an IMMEDIATE transaction and
/// does not wait. MariaDB waits in the server's queue for whole seconds, and tries the row every 50
/// ms for the rest; MySQL always tries it every 50 ms. Refused: missing, busy, timed_out, stopped,
/// in a transaction that stays usable; and deadlock, which on MariaDB and MySQL rolls back.
///
/// On MariaDB and MySQL begin at READ COMMITTED, as `soci_transaction` does. Above it, a missing
/// row keeps others from inserting it until the transaction ends, and the transaction may read an
/// older state of the row than the one it has locked. In a cluster row locks are local to a node:
/// misuse unless `one_writer_node` is set. A lock of the whole table (ALTER TABLE) is waited for as
/// the row is, so a call that waits for both may take twice as long; on MySQL it waits a second
/// more. Rejected: a view, and a table that is not InnoDB. One round trip for each try.
ROWLOCK_EXPORT outcome<void> lock_entity(soci::session& transaction, const entity_table& entity,
                                         const row_id& id, const wait_policy& wait,
                                         const soci_table& table = {});

/// Proves that the leases are still held, and keeps it so until the transaction ends. If a lease is
/// not held, or is past its own deadline though not taken over, rolls back and throws `lease_lost`.
/// A lease that is found lost is marked so at once. After the rollback, statements on the session
/// are outside any transaction; `soci_transaction` then refuses a commit.
ROWLOCK_EXPORT void fence(soci::session& transaction, const fenced_leases& leases,
                          const fence_options& options = {}, const soci_table& table = {});

/// A fence that also unsets the rows when the transaction commits, so no release needs to be sent.
/// After a rollback the leases are still held. Throws `error` (misuse) for options out of range. On
/// MariaDB and MySQL one round trip more than `fence`.
ROWLOCK_EXPORT void release_with(soci::session& transaction, const fenced_leases& leases,
                                 const release_options& options = {}, const soci_table& table = {});

template <>
struct ROWLOCK_EXPORT row_transaction<soci_transaction> {
  using table_type = soci_table;

  static std::optional<refusal> begin(std::optional<soci_transaction>& transaction,
                                      soci::session& session, std::chrono::milliseconds slice);
  static std::optional<refusal> begin_locked(std::optional<soci_transaction>& transaction,
                                             soci::session& session, const lock_keys& keys,
                                             std::chrono::milliseconds slice,
                                             const soci_table& table);
  static outcome<version> read(soci_transaction& transaction, const lock_key& key,
                               const soci_table& table);
  static commit_result try_commit(soci_transaction& transaction, const lock_key& key, version seen,
                                  const soci_table& table);
  static void fence(soci_transaction& transaction, const fenced_leases& leases,
                    const fence_options& options, const soci_table& table);
  static void release_with(soci_transaction& transaction, const fenced_leases& leases,
                           const release_options& options, const soci_table& table);
  static void commit(soci_transaction& transaction) { transaction.commit(); }
  static void lend(soci_transaction& transaction) noexcept { transaction.is_lent_ = true; }
  static bool take_back(soci_transaction& transaction) noexcept {
    transaction.is_lent_ = false;
    return !transaction.is_aborted_;
  }
  static void count_failure(soci::session& session, const lock_keys& keys,
                            const soci_table& table) noexcept;
};

}  // namespace rowlock

#endif
