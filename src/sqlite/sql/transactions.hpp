// SQL in transactions on a SQLite file, and about them.
#ifndef ROWLOCK_SQLITE_SQL_TRANSACTIONS_HPP
#define ROWLOCK_SQLITE_SQL_TRANSACTIONS_HPP

#include <string_view>

namespace rowlock::sqlite::sql {

// ?1 lock_type, ?2 source_id
// The pessimistic lock is this write: whoever has seen the row before finds it changed.
inline constexpr std::string_view lock_row = R"(
INSERT INTO shared_lock (lock_type, source_id, version)
VALUES (?1, ?2, CAST((julianday('now') - 2440587.5) * 86400000.0 AS INTEGER) * 1000)
ON CONFLICT (lock_type, source_id) DO UPDATE
   SET version      = max(version + 1, excluded.version),
       owner        = NULL,
       holder       = NULL,
       acquired_at  = NULL,
       expires_at   = excluded.expires_at,
       expiry_count = expiry_count + (owner IS NOT NULL)
 WHERE expires_at <= strftime('%Y-%m-%d %H:%M:%f', 'now')
RETURNING version
)";

// ?1 lock_type, ?2 source_id, ?3 the version seen
inline constexpr std::string_view advance = R"(
UPDATE shared_lock
   SET version = max(version + 1, CAST((julianday('now') - 2440587.5) * 86400000.0
                                       AS INTEGER) * 1000)
 WHERE lock_type = ?1 AND source_id = ?2 AND version = ?3 AND owner IS NULL
   AND expires_at <= strftime('%Y-%m-%d %H:%M:%f', 'now')
)";

// ?1 lock_type, ?2 source_id
// Of a row that nobody has. One that the failed transaction was to create went with its rollback.
inline constexpr std::string_view count_failure = R"(
INSERT INTO shared_lock (lock_type, source_id, version, failure_count)
VALUES (?1, ?2, CAST((julianday('now') - 2440587.5) * 86400000.0 AS INTEGER) * 1000, 1)
ON CONFLICT (lock_type, source_id) DO UPDATE
   SET failure_count = failure_count + 1
 WHERE expires_at <= strftime('%Y-%m-%d %H:%M:%f', 'now')
)";

// Changes nothing; but from here on the transaction is the one writer of the table's file, which of
// the attached ones it may be.
inline constexpr std::string_view become_writer =
    "UPDATE shared_lock SET version = version WHERE false";

inline constexpr std::string_view begin_immediate = "BEGIN IMMEDIATE";

inline constexpr std::string_view commit = "COMMIT";

inline constexpr std::string_view rollback = "ROLLBACK";

inline constexpr std::string_view journal_in_wal = "PRAGMA journal_mode = WAL";

inline constexpr std::string_view sync_every_commit = "PRAGMA synchronous = FULL";

inline constexpr std::string_view get_busy_timeout = "PRAGMA busy_timeout";

inline constexpr std::string_view set_savepoint = "SAVEPOINT rowlock";

inline constexpr std::string_view undo_savepoint = "ROLLBACK TO rowlock; RELEASE rowlock";

inline constexpr std::string_view release_savepoint = "RELEASE rowlock";

}  // namespace rowlock::sqlite::sql

#endif
