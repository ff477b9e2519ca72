// SQL that grants, renews and releases leases, on MariaDB and MySQL.
//
// Common to the statements:
//   - The time is UTC_TIMESTAMP(6), the start of the statement; no statement waits between it and
//     the write.
//   - A new version is greatest(version + 1, microseconds since 1970), from the current row.
//   - SET is executed from left to right, and a column sees the new values of those to its left. So
//     values that depend on the owner come before the owner.
//   - Conditions are in WHERE, because SOCI's sessions count the rows that were found, not those
//     that were changed.
//   - With STRAIGHT_JOIN the list of keys comes first. With FORCE INDEX only the rows that it names
//     are read, and so locked: a small table would be scanned, and all its rows locked.
//   - A SELECT with several result rows on a session of the application has a LIMIT. Otherwise the
//     session's sql_select_limit would hide some.
//
// A statement for several keys takes a JSON array of arrays as $1, and names their columns ({list},
// {rows}). Texts in it, and all texts that are written into a statement, are in hexadecimal, so
// that character sets and quoting rules do not matter. The type of a key is written as it is.
// Placeholders in braces are explained in spelling.hpp.
#ifndef ROWLOCK_MYSQL_SQL_LEASES_HPP
#define ROWLOCK_MYSQL_SQL_LEASES_HPP

#include <string_view>

namespace rowlock::mysql::sql {

// Grants an unowned row, whatever its version and done mark; the insert id is the new version.
// Changes no row if it is not free. The server evaluates each expression at each execution, so this
// common case has a statement that does nothing else.
// $1 type, $2 id, $3 owner, $4 holder, $5 ttl in microseconds, $6 microseconds for which it must
// have been open, $7 correlation id or null
inline constexpr std::string_view acquire_free = R"sql(
UPDATE shared_lock
   SET version = last_insert_id({next_version}),
       owner = $3, holder = $4, acquired_at = utc_timestamp(6),
       expires_at = utc_timestamp(6) + INTERVAL $5 MICROSECOND,
       ttl_us = $5, correlation_id = $7
 WHERE lock_type = $1 AND source_id = $2 AND owner IS NULL
   AND expires_at <= utc_timestamp(6) - INTERVAL $6 MICROSECOND
)sql";

// Grants an unowned row; the insert id is the new version. Changes no row if it is not free.
// $1 type, $2 id, $3 owner, $4 holder, $5 ttl in microseconds, $6 expected version or null, $7 1 to
// refuse a row that is marked done, else 0, $8 microseconds for which it must have been open, $9
// correlation id or null
inline constexpr std::string_view acquire = R"sql(
UPDATE shared_lock
   SET version = last_insert_id({next_version}),
       owner = $3, holder = $4, acquired_at = utc_timestamp(6),
       expires_at = utc_timestamp(6) + INTERVAL $5 MICROSECOND,
       ttl_us = $5, correlation_id = $9
 WHERE lock_type = $1 AND source_id = $2 AND owner IS NULL
   AND expires_at <= utc_timestamp(6) - INTERVAL $8 MICROSECOND
   AND ($6 IS NULL OR version = $6)
   AND ($7 = 0 OR done_until <= utc_timestamp(6))
)sql";

// Creates a missing row with a lease; the insert id is the version.
// $1 type, $2 id, $3 owner, $4 holder, $5 ttl in microseconds, $6 correlation id or null
inline constexpr std::string_view insert = R"sql(
INSERT INTO shared_lock (lock_type, source_id, version, owner, holder, acquired_at, expires_at,
                         ttl_us, correlation_id)
VALUES ($1, $2, last_insert_id({now_us}),
        $3, $4, utc_timestamp(6), utc_timestamp(6) + INTERVAL $5 MICROSECOND, $5, $6)
)sql";

// The same, and returns the version of the granted row: for sessions where a trigger hides the
// insert id. MariaDB alone: MySQL has no blocks outside of stored programs.
inline constexpr std::string_view acquire_and_read = R"sql(
BEGIN NOT ATOMIC
  {acquire};
  IF row_count() > 0 THEN
    SELECT last_insert_id();
  END IF;
END
)sql";

// Renews a lease: it ends one ttl from now. Changes no row if the lease is lost.
// $1 type, $2 id, $3 owner, $4 version, $5 ttl in microseconds
inline constexpr std::string_view renew = R"sql(
UPDATE shared_lock
   SET expires_at = utc_timestamp(6) + INTERVAL $5 MICROSECOND, ttl_us = $5
 WHERE lock_type = $1 AND source_id = $2 AND owner = $3 AND version = $4
)sql";

// Releases a lease after a success: the row is free. Changes no row if the lease is lost.
// $1 type, $2 id, $3 owner, $4 version
inline constexpr std::string_view release = R"sql(
UPDATE shared_lock
   SET version = {next_version}, owner = NULL,
       ended_at = utc_timestamp(6), ended_as = 'released', expires_at = '1970-01-01 00:00:00'
 WHERE lock_type = $1 AND source_id = $2 AND owner = $3 AND version = $4
)sql";

// Releases a lease after a failure, or so that the row stays closed for a time or is remembered as
// done. Changes no row if the lease is lost.
// $1 type, $2 id, $3 owner, $4 version, $5 1 if the callback failed, else 0, $6 microseconds for
// which the row stays closed, $7 microseconds for which it is remembered as done, or 0
inline constexpr std::string_view release_and_mark = R"sql(
UPDATE shared_lock
   SET version = {next_version},
       owner = NULL, ended_at = utc_timestamp(6), ended_as = IF($5 = 1, 'failed', 'released'),
       expires_at = IF($6 > 0, utc_timestamp(6) + INTERVAL $6 MICROSECOND, '1970-01-01 00:00:00'),
       done_by = IF($7 > 0, $4, done_by), done_at = IF($7 > 0, utc_timestamp(6), done_at),
       done_until = IF($7 > 0, utc_timestamp(6) + INTERVAL $7 MICROSECOND, done_until),
       failure_count = failure_count + $5
 WHERE lock_type = $1 AND source_id = $2 AND owner = $3 AND version = $4
)sql";

// Releases a lease and grants the row to the next owner, in one write: no other owner can get the
// row in between. The insert id is the new version. Changes no row if the lease is lost.
// $1 type, $2 id, $3 owner, $4 version, $5 1 if the callback failed, else 0, $6 next owner, $7 next
// holder, $8 ttl in microseconds, $9 correlation id or null
inline constexpr std::string_view handoff = R"sql(
UPDATE shared_lock
   SET version = last_insert_id({next_version}),
       owner = $6, holder = $7, acquired_at = utc_timestamp(6),
       expires_at = utc_timestamp(6) + INTERVAL $8 MICROSECOND, ttl_us = $8, correlation_id = $9,
       failure_count = failure_count + $5
 WHERE lock_type = $1 AND source_id = $2 AND owner = $3 AND version = $4
)sql";

// Grants the rows that still have the version that was read, and were free $2 microseconds ago. The
// insert id is the time.
inline constexpr std::string_view take_many = R"sql(
UPDATE {rows: version, owner, holder, ttl, correlation_id}
   SET l.expiry_count = l.expiry_count + (l.owner IS NOT NULL AND l.owner <> unhex(w.owner)),
       l.version = greatest(l.version + 1, last_insert_id({now_us})),
       l.owner = unhex(w.owner), l.holder = CONVERT(unhex(w.holder) USING utf8mb4),
       l.acquired_at = utc_timestamp(6),
       l.expires_at = utc_timestamp(6) + INTERVAL w.ttl MICROSECOND, l.ttl_us = w.ttl,
       l.correlation_id = CONVERT(nullif(unhex(w.correlation_id), X'') USING utf8mb4)
 WHERE l.version = w.version
   AND l.expires_at <= utc_timestamp(6) - INTERVAL $2 MICROSECOND
)sql";

// Creates missing rows with leases.
inline constexpr std::string_view insert_many = R"sql(
INSERT INTO shared_lock (lock_type, source_id, version, owner, holder, acquired_at, expires_at,
                         ttl_us, correlation_id)
SELECT w.lock_type, unhex(w.source_id), {now_us},
       unhex(w.owner), CONVERT(unhex(w.holder) USING utf8mb4), utc_timestamp(6),
       utc_timestamp(6) + INTERVAL w.ttl MICROSECOND, w.ttl,
       CONVERT(nullif(unhex(w.correlation_id), X'') USING utf8mb4)
  FROM {list: owner, holder, ttl, correlation_id}
)sql";

// Renews leases, as `renew`.
inline constexpr std::string_view renew_many = R"sql(
UPDATE {rows: owner, version, ttl}
   SET l.expires_at = utc_timestamp(6) + INTERVAL w.ttl MICROSECOND, l.ttl_us = w.ttl
 WHERE l.owner = unhex(w.owner) AND l.version = w.version
)sql";

// Releases leases, as `release`.
inline constexpr std::string_view release_many = R"sql(
UPDATE {rows: owner, version, failed, closed, done}
   SET l.version = {next_version_of_l},
       l.owner = NULL, l.ended_at = utc_timestamp(6),
       l.ended_as = IF(w.failed = 1, 'failed', 'released'),
       l.expires_at = IF(w.closed > 0, utc_timestamp(6) + INTERVAL w.closed MICROSECOND,
                         '1970-01-01 00:00:00'),
       l.done_by = IF(w.done > 0, w.version, l.done_by),
       l.done_at = IF(w.done > 0, utc_timestamp(6), l.done_at),
       l.done_until = IF(w.done > 0, utc_timestamp(6) + INTERVAL w.done MICROSECOND, l.done_until),
       l.failure_count = l.failure_count + w.failed
 WHERE l.owner = unhex(w.owner) AND l.version = w.version
)sql";

// Locks the rows that no other transaction has locked and that still have the version, until the
// transaction ends. Returns the indexes of these.
inline constexpr std::string_view have_many_at_version = R"sql({skip_locked}
SELECT w.place
  FROM {rows: place, version}
 WHERE l.version = w.version
 LIMIT 18446744073709551615
   {for_update} SKIP LOCKED
)sql";

// The same for rows with an owner and version.
inline constexpr std::string_view have_many_granted = R"sql({skip_locked}
SELECT w.place
  FROM {rows: place, owner, version}
 WHERE l.owner = unhex(w.owner) AND l.version = w.version
 LIMIT 18446744073709551615
   {for_update} SKIP LOCKED
)sql";

// Grants all rows, or none. If a row is not as it was read, or not free for $2 microseconds, the
// version overflows (error 1690). Then the statement fails as a whole, whatever the sql_mode and
// the table's CHECKs. (The overflowing expression names a column, so that no server computes it
// before it reads the rows.) Missing rows (version 0) are inserted. The insert id is the time.
inline constexpr std::string_view grant_all = R"sql(
INSERT INTO shared_lock (lock_type, source_id, version, owner, holder, acquired_at, expires_at,
                         ttl_us, correlation_id)
SELECT w.lock_type, unhex(w.source_id), last_insert_id({now_us}),
       unhex(w.owner), CONVERT(unhex(w.holder) USING utf8mb4), utc_timestamp(6),
       utc_timestamp(6) + INTERVAL w.ttl MICROSECOND, w.ttl,
       CONVERT(nullif(unhex(w.correlation_id), X'') USING utf8mb4)
  FROM {list: version, owner, holder, ttl, correlation_id, is_mine}
    ON DUPLICATE KEY UPDATE
       expiry_count = shared_lock.expiry_count
         + (shared_lock.owner IS NOT NULL AND shared_lock.owner <> unhex(w.owner)),
       version = CASE
         WHEN shared_lock.version = w.version AND w.is_mine = 1 THEN shared_lock.version
         WHEN shared_lock.version = w.version
              AND shared_lock.expires_at <= utc_timestamp(6) - INTERVAL $2 MICROSECOND
         THEN greatest(shared_lock.version + 1, {now_us})
         ELSE 9223372036854775807 + (1 + abs(sign(shared_lock.version))) END,
       owner = unhex(w.owner),
       holder = IF(w.is_mine = 1, shared_lock.holder, CONVERT(unhex(w.holder) USING utf8mb4)),
       acquired_at = IF(w.is_mine = 1, shared_lock.acquired_at, utc_timestamp(6)),
       expires_at = utc_timestamp(6) + INTERVAL w.ttl MICROSECOND, ttl_us = w.ttl,
       correlation_id = CONVERT(nullif(unhex(w.correlation_id), X'') USING utf8mb4)
)sql";

// Locks the first $2 rows that no other transaction has locked and that still have the version,
// until the transaction ends. Returns the indexes of these.
inline constexpr std::string_view have_some_at_version = R"sql({skip_locked}
SELECT w.place
  FROM {rows: place, version}
 WHERE l.version = w.version
 LIMIT $2
   {for_update} SKIP LOCKED
)sql";

}  // namespace rowlock::mysql::sql

#endif
