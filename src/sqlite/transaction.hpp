// Row locks, versions and proofs in the caller's transaction.
#ifndef ROWLOCK_SQLITE_TRANSACTION_HPP
#define ROWLOCK_SQLITE_TRANSACTION_HPP

#include <cstdint>
#include <span>

#include "rowlock/fence.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/outcome.hpp"
#include "rowlock/port/store.hpp"
#include "rowlock/row_lock.hpp"
#include "rowlock/table_name.hpp"

struct sqlite3;

namespace rowlock::sqlite {

// What the functions of the same names in rowlock/sqlite.hpp do, whatever the driver. They check
// the transaction (misuse), and throw `failure` where SQLite fails.

outcome<row_lock> lock_rows(sqlite3* transaction, const lock_keys& keys, const table_name& table);

outcome<version> read_version(sqlite3* transaction, const lock_key& key, const table_name& table);

commit_result try_commit(sqlite3* transaction, const lock_key& key, version seen,
                         const table_name& table);

/// What to do where a table or a column of the application is missing.
inline constexpr const char* compare_the_names =
    "compare the names in versioned_table with the schema";

commit_result try_commit(sqlite3* transaction, const versioned_table& table, const row_id& id,
                         std::int64_t seen);

/// If a lease is not held: roll back. `releases` are of the same leases, or none: then the rows
/// stay as they are.
detail::fence_proof prove(sqlite3* transaction, const fenced_leases& leases,
                          std::span<const release_request> releases, const table_name& table);

}  // namespace rowlock::sqlite

struct sqlite3;

namespace rowlock::sqlite {

/// Seen on the connection, without touching the file.
bool is_in_transaction(sqlite3* database) noexcept;

/// Throw `error` (misuse), seen on the connection without touching the file.
void require_transaction(sqlite3* database);
void require_immediate_transaction(sqlite3* database);

}  // namespace rowlock::sqlite

struct sqlite3;

namespace rowlock::sqlite {

/// Thread-safety: as its database, one thread at a time.
class savepoint {
 public:
  /// Throws `failure`.
  explicit savepoint(sqlite3* transaction);
  savepoint(const savepoint&) = delete;
  savepoint& operator=(const savepoint&) = delete;
  /// Undoes what was done since the constructor, unless it was released.
  ~savepoint();

  /// Throws `failure`.
  void release();

 private:
  sqlite3* transaction_;
  bool released_ = false;
};

}  // namespace rowlock::sqlite

#endif
