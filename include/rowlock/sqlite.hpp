// Row locks, versions and fences inside the application's own SQLite transaction.
#ifndef ROWLOCK_SQLITE_HPP
#define ROWLOCK_SQLITE_HPP

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
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

namespace SQLite {
class Database;
}

namespace rowlock {

namespace sqlite {
class writer_ticket;
}  // namespace sqlite

/// An IMMEDIATE transaction. It is the file's one writer from its beginning, so no later statement
/// can fail because of another writer. Keep it short: while it lasts no other transaction writes to
/// the file, and no lease in it can be renewed or released.
///
/// Writers through rowlock take turns in the order in which they came, by way of a file beside the
/// database (`<database>-rowlock`). A child of fork() must leave the transaction alone: there its
/// destructor does nothing, and a commit is misuse. So is a new one on a file that was open before
/// the fork, on a connection that rowlock knows. One thread at a time, as its database.
class ROWLOCK_EXPORT sqlite_transaction {
  /// Only `row_transaction` can make one.
  struct begun {
    explicit begun(std::shared_ptr<sqlite::writer_ticket> in) noexcept : ticket{std::move(in)} {}
    std::shared_ptr<sqlite::writer_ticket> ticket;
  };

 public:
  /// Begins. Waits at most `turn_timeout` to become the writer, then throws `error` (unavailable).
  explicit sqlite_transaction(SQLite::Database& database,
                              std::chrono::milliseconds turn_timeout = std::chrono::seconds{1});
  /// Owns the transaction that has just begun on `database`.
  sqlite_transaction(SQLite::Database& database, begun by) noexcept
      : database_{database}, ticket_{std::move(by.ticket)} {}
  sqlite_transaction(const sqlite_transaction&) = delete;
  sqlite_transaction& operator=(const sqlite_transaction&) = delete;
  /// Rolls back unless committed.
  ~sqlite_transaction();

  [[nodiscard]] SQLite::Database& database() noexcept { return database_; }

  /// Throws `error` (misuse) after the transaction has ended (a fence may end it, or an error such
  /// as a full disk), and in a callback of `with_row_lock`, which commits itself.
  void commit();
  /// Rolls back, if the transaction has not ended.
  void abort() noexcept;

 private:
  friend struct row_transaction<sqlite_transaction>;

  /// It has ended: the next writer may begin.
  void end() noexcept;

  detail::home_process home_;
  SQLite::Database& database_;
  std::shared_ptr<sqlite::writer_ticket> ticket_;  // until the end of the transaction
  bool open_ = true;
  bool is_lent_ = false;
  bool is_aborted_ = false;
};

// All functions run on the caller's open transaction and throw `error`; no transaction is misuse.
// So is a deferred one that has not written, in `lock_rows`, `lock_entity`, `fence` and
// `release_with`, which need an IMMEDIATE one. Both are detected without touching the file. A
// refusal leaves the transaction usable.

/// Locks the rows until the transaction ends, and moves their versions in it. Creates missing rows.
/// No other transaction can interfere, since a file has one writer. A live lease can: it is refused
/// (held) at once, whatever `wait` says, because its holder could not release it while this
/// transaction is open. `with_row_lock` does wait, between transactions.
ROWLOCK_EXPORT outcome<row_lock> lock_rows(SQLite::Database& transaction, const lock_keys& keys,
                                           const wait_policy& wait, const table_name& table = {});

/// The version of an unowned row, for `try_commit` at the end of the same transaction. Call it
/// before reading what the version protects. Creates a missing row, and unsets a lease that has run
/// out. Refused: held, or busy if a deferred transaction cannot become the writer for that.
ROWLOCK_EXPORT outcome<version> read_version(SQLite::Database& transaction, const lock_key& key,
                                             const table_name& table = {});

/// Moves the version of `key` if it is still `seen`, and the row is unowned and not closed. Stale:
/// roll back. Also stale if a deferred transaction cannot become the writer because another one is,
/// or wrote since it began.
ROWLOCK_EXPORT commit_result try_commit(SQLite::Database& transaction, const lock_key& key,
                                        version seen, const table_name& table = {});

/// The same for a row of the application: moves its version column (adds one to a number, moves a
/// time to the clock) if it is still `seen`. Write the other columns with your own SQL. Rejected
/// for a version that did not move: see `version_kind`.
ROWLOCK_EXPORT commit_result try_commit(SQLite::Database& transaction, const versioned_table& table,
                                        const row_id& id, std::int64_t seen);

/// The version of a row of the application, for that `try_commit`. Refused: missing. Rejected if
/// the version column has no such value.
ROWLOCK_EXPORT outcome<std::int64_t> read_version(SQLite::Database& transaction,
                                                  const versioned_table& table, const row_id& id);

/// The counterpart of `SELECT ... FOR UPDATE` for one row of the application. The transaction is
/// the file's one writer, so no other can have the row, and the call does not wait, whatever `wait`
/// says; beginning the transaction does. In an attached file that the transaction has not written,
/// it becomes the writer within the connection's busy_timeout. Refused: missing; busy if that file
/// has another writer; stale if it was written after this transaction read it: roll back and begin
/// again. Rejected: a view.
ROWLOCK_EXPORT outcome<void> lock_entity(SQLite::Database& transaction, const entity_table& table,
                                         const row_id& id, const wait_policy& wait);

/// Proves that the leases are still held, which stays true until the transaction ends, because
/// there is no other writer. If a lease is not held, or is past its own deadline though not taken
/// over, rolls back and throws `lease_lost`. A lease that is found lost is marked so at once.
/// SQLite can do no more than roll back: code that swallows the exception and goes on writes
/// outside any transaction. `rowlock::sqlite_transaction` then refuses a commit. No lease in the
/// file can be renewed while the transaction is open: keep it shorter than ttl minus margin.
ROWLOCK_EXPORT void fence(SQLite::Database& transaction, const fenced_leases& leases,
                          const table_name& table = {});

/// A fence that also unsets the rows when the transaction commits, so no release needs to be sent.
/// After a rollback the leases are still held. With `done_for` the rows remember the work as done.
/// Throws `error` (misuse) for options out of range.
ROWLOCK_EXPORT void release_with(SQLite::Database& transaction, const fenced_leases& leases,
                                 const release_options& options = {}, const table_name& table = {});

template <>
struct ROWLOCK_EXPORT row_transaction<sqlite_transaction> {
  using table_type = table_name;

  static std::optional<refusal> begin(std::optional<sqlite_transaction>& transaction,
                                      SQLite::Database& database, std::chrono::milliseconds slice);
  static std::optional<refusal> begin_locked(std::optional<sqlite_transaction>& transaction,
                                             SQLite::Database& database, const lock_keys& keys,
                                             std::chrono::milliseconds slice,
                                             const table_name& table);
  static outcome<version> read(sqlite_transaction& transaction, const lock_key& key,
                               const table_name& table);
  static commit_result try_commit(sqlite_transaction& transaction, const lock_key& key,
                                  version seen, const table_name& table);
  static void fence(sqlite_transaction& transaction, const fenced_leases& leases,
                    const fence_options& options, const table_name& table);
  static void release_with(sqlite_transaction& transaction, const fenced_leases& leases,
                           const release_options& options, const table_name& table);
  static void commit(sqlite_transaction& transaction) { transaction.commit(); }
  static void lend(sqlite_transaction& transaction) noexcept { transaction.is_lent_ = true; }
  static bool take_back(sqlite_transaction& transaction) noexcept {
    transaction.is_lent_ = false;
    return !transaction.is_aborted_;
  }
  static void count_failure(SQLite::Database& database, const lock_keys& keys,
                            const table_name& table) noexcept;
};

}  // namespace rowlock

#endif
