// SQL on the lock table of a SQLite file, by its plain name; `table_name::in` inserts the real one.
//
// 'now' is one moment within a statement, and no statement waits between that moment and the write.
// The end of a lease is strftime('%Y-%m-%d %H:%M:%f', 'now', <ttl>), ttl like '+30.000 seconds'.
#ifndef ROWLOCK_SQLITE_SQL_LEASES_HPP
#define ROWLOCK_SQLITE_SQL_LEASES_HPP

#include <string_view>

#include "store/list_values.hpp"

namespace rowlock::sqlite::sql {

// {now}, the time as text; {now_us}, the time as a version (unixepoch('subsec') is null before
// SQLite 3.42); and {next_version}, the larger of the next number and the time, so that versions
// only grow.
inline constexpr std::string_view now_as_text = "strftime('%Y-%m-%d %H:%M:%f', 'now')";
inline constexpr std::string_view now_us =
    "CAST((julianday('now') - 2440587.5) * 86400000.0 AS INTEGER) * 1000";
inline constexpr std::string_view next_version = "max(version + 1, {now_us})";

// The columns of a row, in the order of detail::row_columns. Times left (of the lease or the
// closing, of the done mark) are in microseconds from now; zero or less when over.
inline constexpr std::string_view columns =
    R"(lock_type, source_id, version, owner, holder, acquired_at || '000',
       CAST(round((julianday(expires_at) - julianday('now')) * 86400000.0) AS INTEGER) * 1000,
       failure_count, expiry_count, done_by, done_at || '000',
       CAST(round((julianday(done_until) - julianday('now')) * 86400000.0) AS INTEGER) * 1000,
       note, force_reason, forced_at || '000', forced_from,
       CAST(round((julianday('now') - julianday(acquired_at)) * 86400000.0) AS INTEGER) * 1000,
       ttl_us, correlation_id, ended_at || '000', ended_as,
       CAST(round((julianday(ended_at) - julianday(acquired_at)) * 86400000.0) AS INTEGER) * 1000,
       asked_version, asked_at || '000', asked_by, ask_reason)";

// Reads the row of a key.
// ?1 lock_type, ?2 source_id
inline constexpr std::string_view read = R"(
SELECT {columns}
  FROM shared_lock
 WHERE lock_type = ?1 AND source_id = ?2
)";

// The rows that are owned or closed, of a range of keys. The row comparison makes one range of the
// primary key.
// ?1 lock_type and ?2 source_id to begin after, ?3 the last type, ?4 the holder, ?5 1 if owned and
// 0 if not, ?6 the same of a lease or a closed time that is not over; null: any. ?7 the most rows
inline constexpr std::string_view listed = R"(
 WHERE (lock_type, source_id) > (?1, ?2) AND lock_type <= ?3
   AND (owner IS NOT NULL OR expires_at > {now})
   AND (?4 IS NULL OR holder = ?4)
   AND (?5 IS NULL OR (owner IS NOT NULL) = ?5)
   AND (?6 IS NULL OR (expires_at > {now}) = ?6))";

// Parameters as above.
inline constexpr std::string_view list_by_key = R"(
SELECT {columns}
  FROM shared_lock {listed}
 ORDER BY lock_type, source_id
 LIMIT ?7
)";

// In another order than that of the key, SQLite computes the columns of most rows before it sorts
// them: so the keys are found first.
inline constexpr std::string_view list_in_order = R"(
SELECT {columns}
  FROM shared_lock
 WHERE (lock_type, source_id) IN (
       SELECT lock_type, source_id FROM shared_lock {listed} ORDER BY {order} LIMIT ?7)
 ORDER BY {order}
)";

// The longest held first, closed rows last.
inline constexpr std::string_view by_age =
    "owner IS NULL, CASE WHEN owner IS NOT NULL THEN acquired_at END, lock_type, source_id";
inline constexpr std::string_view by_remaining = "expires_at, lock_type, source_id";

// The statement of each order.
inline constexpr detail::list_texts list_texts{
    .by_key = list_by_key, .by_age = "{listed_by_age}", .by_remaining = "{listed_by_remaining}"};

// The clock, in microseconds since 1970. No parameters.
inline constexpr std::string_view now = "SELECT {now_us}";

// Grants a row that is missing, free, or already leased to this owner. In the last case it keeps
// its version. An expired lease of another owner is taken over, and counted in expiry_count.
// Returns the version; no row if it is not granted.
// ?1 lock_type, ?2 source_id, ?3 owner, ?4 holder, ?5 ttl, ?6 1 to refuse a row that is marked
// done, else 0, ?7 ttl in microseconds, ?8 correlation id or null
// In SET and WHERE, a bare column is the row's old value, and excluded.column the value to insert.
inline constexpr std::string_view acquire = R"(
INSERT INTO shared_lock (lock_type, source_id, version, owner, holder, acquired_at, expires_at,
                         ttl_us, correlation_id)
VALUES (?1, ?2,
        {now_us},
        ?3, ?4,
        {now},
        strftime('%Y-%m-%d %H:%M:%f', 'now', ?5),
        ?7, ?8)
ON CONFLICT (lock_type, source_id) DO UPDATE
   SET version      = CASE WHEN owner = ?3 AND expires_at > excluded.acquired_at THEN version
                           ELSE max(version + 1, excluded.version) END,
       acquired_at  = CASE WHEN owner = ?3 AND expires_at > excluded.acquired_at THEN acquired_at
                           ELSE excluded.acquired_at END,
       owner        = excluded.owner,
       holder       = excluded.holder,
       expires_at   = excluded.expires_at,
       ttl_us       = excluded.ttl_us,
       correlation_id = excluded.correlation_id,
       expiry_count = expiry_count + (owner IS NOT NULL AND owner <> ?3)
 WHERE (owner = ?3 OR expires_at <= excluded.acquired_at)
   AND (   NOT ?6 OR done_until <= excluded.acquired_at
        OR owner = ?3 AND expires_at > excluded.acquired_at)
RETURNING version
)";

// Grants an existing row that is free at the expected version, or already leased to this owner. A
// row whose lease has expired is not granted: its late holder may still commit with that version.
// Returns the version; no row if it is not granted.
// ?1 lock_type, ?2 source_id, ?3 owner, ?4 holder, ?5 ttl, ?6 1 to refuse a row that is marked
// done, else 0, ?7 ttl in microseconds, ?8 correlation id or null, ?9 the expected version
inline constexpr std::string_view acquire_at_version = R"(
UPDATE shared_lock
   SET version     = CASE WHEN owner IS NOT NULL THEN version ELSE {next_version} END,
       acquired_at = CASE WHEN owner IS NOT NULL THEN acquired_at ELSE {now} END,
       owner       = ?3,
       holder      = ?4,
       expires_at  = strftime('%Y-%m-%d %H:%M:%f', 'now', ?5),
       ttl_us      = ?7,
       correlation_id = ?8
 WHERE lock_type = ?1 AND source_id = ?2
   AND (   owner = ?3 AND expires_at > {now}
        OR owner IS NULL AND version = ?9
           AND expires_at <= {now}
           AND (NOT ?6 OR done_until <= {now}))
RETURNING version
)";

// Renews a lease: it ends one ttl from now. A lease that has expired is renewed as well if no other
// owner has taken the row. Changes no row if the lease is lost.
// ?1 lock_type, ?2 source_id, ?3 owner, ?4 version of the grant, ?5 ttl, ?6 ttl in microseconds
inline constexpr std::string_view renew = R"(
UPDATE shared_lock
   SET expires_at = strftime('%Y-%m-%d %H:%M:%f', 'now', ?5),
       ttl_us     = ?6
 WHERE lock_type = ?1 AND source_id = ?2 AND owner = ?3 AND version = ?4
)";

// Ends a lease, and leaves the row free, or closed for a time. Changes no row if the lease is lost.
// The version grows, so that the ended grant's token is no longer valid.
// ?1 lock_type, ?2 source_id, ?3 owner, ?4 version of the grant, ?5 1 if the callback failed, else
// 0, ?6 how long the row stays closed, or null, ?7 how long it is marked as done, or null
// The row keeps its last holder, for people.
inline constexpr std::string_view release = R"(
UPDATE shared_lock
   SET version       = {next_version},
       owner         = NULL,
       ended_at      = {now},
       ended_as      = CASE WHEN ?5 THEN 'failed' ELSE 'released' END,
       expires_at    = coalesce(strftime('%Y-%m-%d %H:%M:%f', 'now', ?6),
                                '1970-01-01 00:00:00.000'),
       failure_count = failure_count + ?5,
       done_by       = CASE WHEN ?7 IS NULL THEN done_by ELSE version END,
       done_at       = CASE WHEN ?7 IS NULL THEN done_at ELSE {now} END,
       done_until    = coalesce(strftime('%Y-%m-%d %H:%M:%f', 'now', ?7), done_until)
 WHERE lock_type = ?1 AND source_id = ?2 AND owner = ?3 AND version = ?4
)";

// Writes the holder's note into the row; an empty one deletes it. Changes no row if the lease is
// lost.
// ?1 lock_type, ?2 source_id, ?3 owner, ?4 version of the grant, ?5 note
inline constexpr std::string_view write_note = R"(
UPDATE shared_lock
   SET note = nullif(?5, '')
 WHERE lock_type = ?1 AND source_id = ?2 AND owner = ?3 AND version = ?4
)";

// Asks the holder of a lease to yield. Changes no row if no lease has it at this version.
// ?1 lock_type, ?2 source_id, ?3 the version that was read, ?4 by whom, ?5 the reason
inline constexpr std::string_view ask = R"(
UPDATE shared_lock
   SET asked_version = version,
       asked_at      = {now},
       asked_by      = ?4,
       ask_reason    = ?5
 WHERE lock_type = ?1 AND source_id = ?2 AND version = ?3 AND owner IS NOT NULL
)";

// Prepares a row for a commit at its version: creates a missing row, and unsets an expired lease. A
// live lease stays.
// ?1 lock_type, ?2 source_id
inline constexpr std::string_view prepare = R"(
INSERT INTO shared_lock (lock_type, source_id, version)
VALUES (?1, ?2, {now_us})
ON CONFLICT (lock_type, source_id) DO UPDATE
   SET version      = max(version + 1, excluded.version),
       owner        = NULL,
       ended_at     = expires_at,
       ended_as     = 'ran out',
       expires_at   = excluded.expires_at,
       expiry_count = expiry_count + 1
 WHERE owner IS NOT NULL AND expires_at <= {now}
)";

// Ends a lease, or opens a closed row, by force, and records the reason. Changes no row if the
// version has changed or the row is free: the administrator has then seen another state.
// ?1 lock_type, ?2 source_id, ?3 the version that was read, ?4 reason
inline constexpr std::string_view force_release = R"(
UPDATE shared_lock
   SET version      = {next_version},
       owner        = NULL,
       expires_at   = '1970-01-01 00:00:00.000',
       ended_at     = CASE WHEN owner IS NULL THEN ended_at ELSE {now} END,
       ended_as     = CASE WHEN owner IS NULL THEN ended_as ELSE 'forced' END,
       forced_at    = {now},
       forced_from  = holder,
       force_reason = ?4
 WHERE lock_type = ?1 AND source_id = ?2 AND version = ?3
   AND (owner IS NOT NULL OR expires_at > {now})
)";

// Whether a row `l` may be purged: it is unowned and open, its done mark is over, and its version
// is older than ?3 microseconds. A row type#0 holds the number of rows type#1 and so on, so it
// stays until these are gone. They are found one by one: a range of the index would go through the
// rows of all other ids as well.
inline constexpr std::string_view is_idle = R"(owner IS NULL
   AND expires_at <= {now}
   AND done_until <= {now}
   AND version < {now_us} - ?3
   AND NOT (lock_type GLOB '*#0' AND EXISTS (
         SELECT 1
           FROM (WITH RECURSIVE numbers (number) AS (
                   SELECT 1 UNION ALL SELECT number + 1 FROM numbers LIMIT 1000)
                 SELECT number FROM numbers)
          CROSS JOIN shared_lock n
          WHERE n.lock_type = substr(l.lock_type, 1, length(l.lock_type) - 1) || number
            AND n.source_id = l.source_id)))";

// Reads the next rows in key order, each with 1 if it may be purged, else 0.
// ?1 lock_type, ?2 source_id to continue after, or empty, ?3 age in microseconds, ?4 number of rows
inline constexpr std::string_view find_idle = R"(
SELECT lock_type, source_id,
       {is_idle}
  FROM shared_lock l
 WHERE (lock_type, source_id) > (?1, ?2)
 ORDER BY lock_type, source_id
 LIMIT ?4
)";

// Deletes a row if it is still one that may be purged.
// ?1 lock_type, ?2 source_id, ?3 age in microseconds
inline constexpr std::string_view delete_idle = R"(
DELETE FROM shared_lock AS l
 WHERE lock_type = ?1 AND source_id = ?2
   AND {is_idle}
)";

// Reads the number of the last applied migration; 0 if there is none. Fails without the table. No
// parameters.
inline constexpr std::string_view last_migration =
    "SELECT coalesce(max(number), 0) FROM shared_lock_schema";

// Fails if the lock table does not exist; reads no row. No parameters.
inline constexpr std::string_view find_table = "SELECT 1 FROM shared_lock LIMIT 0";

// Drops what migrations have left if the lock table was dropped by hand. Only shown in an error,
// for an administrator.
inline constexpr std::string_view drop_companions = "DROP TABLE shared_lock_schema";

// Counts the tables (one) and triggers (two) of a history that are there.
// ?1 the lock table's name
inline constexpr std::string_view parts_of_history = R"(
SELECT count(*) FILTER (WHERE type = 'table'), count(*) FILTER (WHERE type = 'trigger')
  FROM sqlite_master
 WHERE name COLLATE NOCASE IN (?1 || '_event', ?1 || '_record', ?1 || '_insert')
)";

// Finds the table: its schema, its type, and whether it is STRICT and WITHOUT ROWID.
// ?1 the table's name, ?2 its schema, or null for the schema in which SQLite finds the name first
inline constexpr std::string_view kind_of_table = R"(
SELECT schema, type, strict AND wr
  FROM pragma_table_list
 WHERE name = ?1 COLLATE NOCASE AND (?2 IS NULL OR schema = ?2 COLLATE NOCASE)
 ORDER BY CASE schema WHEN 'temp' THEN 0 WHEN 'main' THEN 1 ELSE 2 END
 LIMIT 1
)";

// Reads the columns of the primary key and their collations, in order: the key's columns must
// compare bytes.
// ?1 the table's name, ?2 its schema
inline constexpr std::string_view primary_key_of_table = R"(
SELECT part.name, part.coll
  FROM pragma_index_list(?1, ?2) AS the_index, pragma_index_xinfo(the_index.name, ?2) AS part
 WHERE the_index.origin = 'pk' AND part.key = 1
 ORDER BY part.seqno
)";

// Reads the name and the type of each column, and whether it takes NULL.
// ?1 the table's name, ?2 its schema
inline constexpr std::string_view columns_of_table =
    R"(SELECT name, type, NOT "notnull" FROM pragma_table_info(?1, ?2))";

}  // namespace rowlock::sqlite::sql

#endif
