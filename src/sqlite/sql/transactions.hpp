// SQL for transactions on a SQLite file.
#ifndef ROWLOCK_SQLITE_SQL_TRANSACTIONS_HPP
#define ROWLOCK_SQLITE_SQL_TRANSACTIONS_HPP

#include <string_view>

namespace rowlock::sqlite::sql {

// Locks a row until the transaction ends, and creates a missing one. The new version is the lock: a
// transaction that read the row before finds it changed. An expired lease is unset and counted in
// expiry_count. Returns the version; no row if there is a live lease or the row is closed.
// ?1 lock_type, ?2 source_id
inline constexpr std::string_view lock_row = R"(
INSERT INTO shared_lock (lock_type, source_id, version, ended_at, ended_as)
VALUES (?1, ?2, {now_us}, {now}, 'locked')
ON CONFLICT (lock_type, source_id) DO UPDATE
   SET version      = max(version + 1, excluded.version),
       owner        = NULL,
       holder       = NULL,
       acquired_at  = NULL,
       expires_at   = excluded.expires_at,
       ended_at     = {now},
       ended_as     = 'locked',
       expiry_count = expiry_count + (owner IS NOT NULL)
 WHERE expires_at <= {now}
RETURNING version
)";

// Advances the version of an unowned, open row, if it still has the version that was read. Changes
// no row otherwise.
// ?1 lock_type, ?2 source_id, ?3 the version that was read
inline constexpr std::string_view advance = R"(
UPDATE shared_lock
   SET version     = {next_version},
       holder      = NULL,
       acquired_at = NULL,
       expires_at  = '1970-01-01 00:00:00.000',
       ended_at    = {now},
       ended_as    = 'committed'
 WHERE lock_type = ?1 AND source_id = ?2 AND version = ?3 AND owner IS NULL
   AND expires_at <= {now}
)";

// Statements on a row of the application. Their texts are rendered for its table: {entities} is the
// table, {same_id} compares its id with the first parameters, ?1 and so on; {version} is its
// version column, {seen} the parameter behind those of the id: the version that was read.

// Changes no row, but makes the transaction the writer of the table's file.
inline constexpr std::string_view become_entity_writer = "DELETE FROM {entities} WHERE false";

// Finds the row.
inline constexpr std::string_view find_entity =
    "SELECT 1 FROM {entities} AS entity WHERE {same_id}";

// Reads the version.
inline constexpr std::string_view read_number =
    "SELECT CASE typeof(entity.{version}) WHEN 'integer' THEN entity.{version} END "
    "FROM {entities} AS entity WHERE {same_id}";

inline constexpr std::string_view read_time =
    "SELECT {microseconds} FROM {entities} AS entity WHERE {same_id}";

// The microseconds of a text `YYYY-MM-DD HH:MM:SS.ffffff`; null for any other value. The fraction
// is cut off first, as strftime rounds it.
inline constexpr std::string_view microseconds = R"(
  CASE WHEN substr(entity.{version}, 1, 19) GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9] '
                                              || '[0-9][0-9]:[0-9][0-9]:[0-9][0-9]'
        AND (length(entity.{version}) = 19
             OR (substr(entity.{version}, 20, 1) = '.'
                 AND length(entity.{version}) BETWEEN 21 AND 26
                 AND substr(entity.{version}, 21) NOT GLOB '*[^0-9]*'))
       THEN CAST(strftime('%s', substr(entity.{version}, 1, 19)) AS INTEGER) * 1000000
            + CAST(substr(substr(entity.{version}, 21) || '000000', 1, 6) AS INTEGER)
   END)";

// Moves the version if it is the one that was read, and returns the new one.
inline constexpr std::string_view advance_number = R"(
UPDATE {entities} AS entity
   SET {version} = entity.{version} + 1
 WHERE {same_id} AND entity.{version} = {seen}
)";

inline constexpr std::string_view advance_time = R"(
UPDATE {entities} AS entity
   SET {version} = strftime('%Y-%m-%d %H:%M:%S', moved.to_us / 1000000, 'unixepoch')
                   || printf('.%06d', moved.to_us % 1000000)
  FROM (SELECT max({seen} + 1, {now_us}) AS to_us) AS moved
 WHERE {same_id} AND {microseconds} = {seen}
)";

// Adds 1 to failure_count of a row without a live lease that is not closed. Creates the row if the
// failed transaction would have created it: its rollback has undone that.
// ?1 lock_type, ?2 source_id
inline constexpr std::string_view count_failure = R"(
INSERT INTO shared_lock (lock_type, source_id, version, failure_count)
VALUES (?1, ?2, {now_us}, 1)
ON CONFLICT (lock_type, source_id) DO UPDATE
   SET failure_count = failure_count + 1
 WHERE expires_at <= {now}
)";

// Changes no row, but makes the transaction the writer of the table's file. With attached files, a
// write to another file does not. No parameters.
inline constexpr std::string_view become_writer =
    "UPDATE shared_lock SET version = version WHERE false";

// Begins a transaction as the file's one writer; SQLITE_BUSY while there is another one.
inline constexpr std::string_view begin_immediate = "BEGIN IMMEDIATE";

inline constexpr std::string_view commit = "COMMIT";

inline constexpr std::string_view rollback = "ROLLBACK";

// Switches the file to WAL, so that readers and the writer do not block each other. Stored in the
// file.
inline constexpr std::string_view journal_in_wal = "PRAGMA journal_mode = WAL";

// Sets up a connection that only rowlock uses, whatever its owner or the build of SQLite has set.
// The file is not kept from other processes between statements; this comes first, as the next one
// reads the file, and a file that was read in exclusive mode stays so. Each commit is durable
// before it returns: with WAL and NORMAL, a power failure could undo a grant. Conditions of the
// table hold, a purge keeps rows that another table refers to, writes are allowed, and a change
// returns no row that counts it.
inline constexpr std::string_view pin_connection =
    "PRAGMA locking_mode = NORMAL; PRAGMA synchronous = FULL; "
    "PRAGMA ignore_check_constraints = OFF; PRAGMA query_only = OFF; PRAGMA count_changes = OFF; "
    "PRAGMA read_uncommitted = OFF; PRAGMA foreign_keys = ON";

// Around a release. In WAL mode its commit does not wait for the disk, and a power failure may undo
// it. The next commit that waits flushes the same log, so it keeps the release.
inline constexpr std::string_view flush_no_commit = "PRAGMA synchronous = NORMAL";

inline constexpr std::string_view flush_commits = "PRAGMA synchronous = FULL";

// Lists the databases of the connection: number, name and path. The path is empty in memory.
inline constexpr std::string_view databases_of_connection = "PRAGMA database_list";

// Reads how a database of the connection is journalled. {schema} is its quoted name.
inline constexpr std::string_view journal_mode = "PRAGMA {schema}.journal_mode";

// Reads the busy timeout of the connection, in milliseconds, to restore it later.
inline constexpr std::string_view get_busy_timeout = "PRAGMA busy_timeout";

// A savepoint, undone or released, makes several statements of the caller's transaction all or
// nothing.
inline constexpr std::string_view set_savepoint = "SAVEPOINT rowlock";

inline constexpr std::string_view undo_savepoint = "ROLLBACK TO rowlock; RELEASE rowlock";

inline constexpr std::string_view release_savepoint = "RELEASE rowlock";

}  // namespace rowlock::sqlite::sql

#endif
