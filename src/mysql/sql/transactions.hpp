// SQL in the application's transaction, on MariaDB and MySQL. See leases.hpp.
#ifndef ROWLOCK_MYSQL_SQL_TRANSACTIONS_HPP
#define ROWLOCK_MYSQL_SQL_TRANSACTIONS_HPP

#include <string_view>

namespace rowlock::mysql::sql {

// Statements of stores that must not wait for row locks in the application's transaction.
// Parameters as there.
inline constexpr std::string_view read_in_transaction = "{no_wait}{read}";
inline constexpr std::string_view insert_in_transaction = "{no_wait}{insert_unowned}";

// Reads rows as `read`, with the session's isolation level and whether its server is in a cluster.
// At SERIALIZABLE a read in a transaction locks the rows, so it must not wait either.
inline constexpr std::string_view read_with_settings = R"sql({no_wait}
SELECT w.place, {columns},
       {isolation} AS isolation, {clustered} AS clustered
  FROM {list: place}
  LEFT JOIN shared_lock AS l ON l.lock_type = w.lock_type AND l.source_id = unhex(w.source_id)
 LIMIT 18446744073709551615
)sql";

// Locks a row until the transaction ends. The new version is the lock: a transaction that read the
// row before finds it changed. An expired lease is unset and counted. The insert id is the new
// version. Changes no row if it is not free.
// $1 type, $2 id, $3 microseconds for which the row must have been free
inline constexpr std::string_view lock_row = R"sql({no_wait}
UPDATE shared_lock
   SET expiry_count = expiry_count + (owner IS NOT NULL),
       version = last_insert_id({next_version}),
       owner = NULL, holder = NULL, acquired_at = NULL, expires_at = '1970-01-01 00:00:00',
       ended_at = utc_timestamp(6), ended_as = 'locked'
 WHERE lock_type = $1 AND source_id = $2
   AND expires_at <= utc_timestamp(6) - INTERVAL $3 MICROSECOND
)sql";

// Creates a missing row, locked like that. The insert id is the version.
// $1 type, $2 id
inline constexpr std::string_view lock_missing_row = R"sql({no_wait}
INSERT INTO shared_lock (lock_type, source_id, version, ended_at, ended_as)
VALUES ($1, $2, last_insert_id({now_us}),
        utc_timestamp(6), 'locked')
)sql";

// Unsets a lease that expired, as `prepare_many`. The insert id is the new version. Changes no row
// if the lease was renewed or taken over.
// $1 type, $2 id, $3 version that was read, $4 microseconds for which it must have been over
inline constexpr std::string_view prepare_row = R"sql({no_wait}
UPDATE shared_lock
   SET version = last_insert_id({next_version}),
       owner = NULL, ended_at = expires_at, ended_as = 'ran out',
       expires_at = '1970-01-01 00:00:00', expiry_count = expiry_count + 1
 WHERE lock_type = $1 AND source_id = $2 AND version = $3 AND owner IS NOT NULL
   AND expires_at <= utc_timestamp(6) - INTERVAL $4 MICROSECOND
)sql";

// MySQL alone: locks the row that the next statement writes, if no other transaction has it. The id
// is a range of one: a row that is found by `=`, or in a join, stays locked when the conditions
// after it refuse it.
// $1 type, $2 id, $3 version that was read, $4 microseconds for which it must have been open, $5 1
// if it may have an owner, else 0
inline constexpr std::string_view have_row = R"sql({skip_locked}
SELECT 1
  FROM shared_lock AS l FORCE INDEX (PRIMARY)
 WHERE l.lock_type = $1 AND l.source_id >= $2 AND l.source_id <= $2 AND l.version = $3
   AND l.expires_at <= utc_timestamp(6) - INTERVAL $4 MICROSECOND
   AND (l.owner IS NULL OR $5 = 1)
 LIMIT 1
   {for_update} SKIP LOCKED
)sql";

// Advances the version of an unowned, open row, if it is the one that was read. Changes no row
// otherwise.
// $1 type, $2 id, $3 the version that was read
inline constexpr std::string_view advance = R"sql({no_wait}
UPDATE shared_lock
   SET version = {next_version},
       holder = NULL, acquired_at = NULL, expires_at = '1970-01-01 00:00:00',
       ended_at = utc_timestamp(6), ended_as = 'committed'
 WHERE lock_type = $1 AND source_id = $2 AND version = $3 AND owner IS NULL
   AND expires_at <= utc_timestamp(6)
)sql";

// Fences leases by changing their rows, which no other transaction can miss. The number of found
// rows must be that of the leases.
inline constexpr std::string_view fence_by_writing = R"sql({no_wait}
UPDATE {rows: version}
   SET l.fence_count = l.fence_count + 1
 WHERE l.version = w.version AND l.owner IS NOT NULL
)sql";

// Fences leases by a share lock on their rows, which blocks a takeover. Returns a row for each that
// it could lock, which must be all.
inline constexpr std::string_view fence_by_sharing = R"sql({skip_locked}
SELECT w.place, {clustered} AS clustered
  FROM {rows: place, version}
 WHERE l.version = w.version AND l.owner IS NOT NULL
 LIMIT 18446744073709551615
   {for_share} SKIP LOCKED
)sql";

// Fences leases, and releases them as well when the transaction commits.
inline constexpr std::string_view release_with = R"sql({no_wait}
UPDATE {rows: version, closed, done}
   SET l.fence_count = l.fence_count + 1,
       l.version = {next_version_of_l},
       l.owner = NULL, l.ended_at = utc_timestamp(6), l.ended_as = 'released',
       l.expires_at = IF(w.closed > 0, utc_timestamp(6) + INTERVAL w.closed MICROSECOND,
                         '1970-01-01 00:00:00'),
       l.done_by = IF(w.done > 0, w.version, l.done_by),
       l.done_at = IF(w.done > 0, utc_timestamp(6), l.done_at),
       l.done_until = IF(w.done > 0, utc_timestamp(6) + INTERVAL w.done MICROSECOND, l.done_until)
 WHERE l.version = w.version AND l.owner IS NOT NULL
)sql";

// Statements on a row of the application. Their texts are rendered for its table: {entities} is the
// table, {same_id} compares its id with the first parameters, $1 and so on; {version} is its
// version column, {seen} the parameter behind those of the id: the version that was read.

// Locks the row, and waits for it as {wait} says: NOWAIT, or WAIT and a number of seconds. On MySQL
// these are about the row alone, so {limit} is for a lock of the whole table.
inline constexpr std::string_view lock_entity = R"sql(
SELECT {limit} {engine} AS engine, {clustered} AS clustered
  FROM {entities} AS entity WHERE {same_id} FOR UPDATE {wait}
)sql";

// The engine of a table, or what else it is; null for a temporary table, which some servers list.
inline constexpr std::string_view engine = R"sql((
  SELECT CASE WHEN known.table_type IN ('VIEW', 'SYSTEM VIEW', 'SEQUENCE') THEN known.table_type
              ELSE known.engine END
    FROM information_schema.tables AS known
   WHERE known.table_schema = {schema} AND known.table_name = {name}
   ORDER BY known.table_type = 'TEMPORARY' DESC
   LIMIT 1))sql";

// Compares a part of an id with a column. The first comparison uses an index, but a column of
// numbers equals texts that begin with its number, and large numbers as doubles. The second is of
// texts, as the server shows the column; converted, as the text of a number has the collation of
// the connection.
inline constexpr std::string_view same_text =
    "{column} = {parameter} AND CONVERT(concat({column}) USING utf8mb4) = {parameter}";

// The third finds an integer that is shown with zeros: 00042, 42.00.
inline constexpr std::string_view same_integer = R"sql({column} = {parameter}
   AND (CONVERT(concat({column}) USING utf8mb4) = {parameter}
        OR CAST(concat({column}) AS DECIMAL(65, 30)) = {integer}))sql";

// Reads the version.
inline constexpr std::string_view read_number = R"sql(
SELECT {engine} AS engine, entity.{version} FROM {entities} AS entity WHERE {same_id}
)sql";

inline constexpr std::string_view read_time = R"sql(
SELECT {engine} AS engine, timestampdiff(MICROSECOND, '1970-01-01', entity.{version})
  FROM {entities} AS entity WHERE {same_id}
)sql";

// Moves the version if it is the one that was read.
inline constexpr std::string_view advance_number = R"sql(
UPDATE {entities} AS entity
   SET entity.{version} = entity.{version} + 1
 WHERE {same_id} AND entity.{version} = {seen}
)sql";

inline constexpr std::string_view advance_time = R"sql(
UPDATE {entities} AS entity
   SET entity.{version} = greatest(entity.{version} + INTERVAL 1 MICROSECOND, current_timestamp(6))
 WHERE {same_id} AND timestampdiff(MICROSECOND, '1970-01-01', entity.{version}) = {seen}
)sql";

// Adds 1 to failure_count of the rows without a live lease that are not closed.
inline constexpr std::string_view count_failures = R"sql({no_wait}
UPDATE {rows}
   SET l.failure_count = l.failure_count + 1
 WHERE l.expires_at <= utc_timestamp(6)
)sql";

// Sets the isolation of the next transaction only.
inline constexpr std::string_view read_committed_once =
    "SET TRANSACTION ISOLATION LEVEL READ COMMITTED";

inline constexpr std::string_view begin = "START TRANSACTION";

// On a session that is not in autocommit a statement after a deadlock begins another transaction,
// which would be committed in the place of the first. The first one has this savepoint; in another
// one its release fails (1305).
inline constexpr std::string_view mark_beginning = "SAVEPOINT rowlock_began";
inline constexpr std::string_view require_beginning = "RELEASE SAVEPOINT rowlock_began";

// Commits, and neither begins another transaction nor disconnects, whatever completion_type is set
// to.
inline constexpr std::string_view commit = "COMMIT AND NO CHAIN NO RELEASE";

inline constexpr std::string_view roll_back = "ROLLBACK AND NO CHAIN NO RELEASE";

// Around several statements, so that a refusal undoes them. Row locks are given back only if the
// transaction has neither read nor written before.
inline constexpr std::string_view savepoint = "SAVEPOINT rowlock";

inline constexpr std::string_view roll_back_to_savepoint = "ROLLBACK TO SAVEPOINT rowlock";

inline constexpr std::string_view release_savepoint = "RELEASE SAVEPOINT rowlock";

}  // namespace rowlock::mysql::sql

#endif
