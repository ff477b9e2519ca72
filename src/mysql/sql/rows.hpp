// SQL that reads and prepares rows, and SQL for operators, on MariaDB and MySQL. See leases.hpp.
#ifndef ROWLOCK_MYSQL_SQL_ROWS_HPP
#define ROWLOCK_MYSQL_SQL_ROWS_HPP

#include <string_view>

#include "store/list_values.hpp"

namespace rowlock::mysql::sql {

// The columns of a row `l`, in the order of detail::row_columns.
inline constexpr std::string_view columns =
    R"sql(l.version, l.owner, CAST(l.holder AS BINARY) AS holder,
       date_format(l.acquired_at, '%Y-%m-%d %H:%i:%s.%f') AS acquired_at,
       timestampdiff(MICROSECOND, utc_timestamp(6), l.expires_at) AS remaining_us,
       l.failure_count, l.expiry_count, l.done_by,
       date_format(l.done_at, '%Y-%m-%d %H:%i:%s.%f') AS done_at,
       timestampdiff(MICROSECOND, utc_timestamp(6), l.done_until) AS done_remaining_us,
       CAST(l.note AS BINARY) AS note, CAST(l.force_reason AS BINARY) AS force_reason,
       date_format(l.forced_at, '%Y-%m-%d %H:%i:%s.%f') AS forced_at,
       CAST(l.forced_from AS BINARY) AS forced_from,
       timestampdiff(MICROSECOND, l.acquired_at, utc_timestamp(6)) AS since_us, l.ttl_us,
       CAST(l.correlation_id AS BINARY) AS correlation_id,
       date_format(l.ended_at, '%Y-%m-%d %H:%i:%s.%f') AS ended_at, l.ended_as,
       timestampdiff(MICROSECOND, l.acquired_at, l.ended_at) AS lasted_us, l.asked_version,
       date_format(l.asked_at, '%Y-%m-%d %H:%i:%s.%f') AS asked_at,
       CAST(l.asked_by AS BINARY) AS asked_by, CAST(l.ask_reason AS BINARY) AS ask_reason)sql";

// Reads the committed state of rows, or the state that the transaction sees. Returns a row for each
// key, in no order. Times left are in microseconds from now.
inline constexpr std::string_view read = R"sql(
SELECT w.place, {columns}
  FROM {list: place}
  LEFT JOIN shared_lock AS l ON l.lock_type = w.lock_type AND l.source_id = unhex(w.source_id)
 LIMIT 18446744073709551615
)sql";

// The rows that are owned or closed, of a range of keys. The first condition makes two ranges of
// the primary key: the rest of the first type, and the types after it. As `lock_type >= $1 AND
// (lock_type > $1 OR source_id > $2)` it would make one, from the beginning of the first type on.
// The holder is compared as bytes: utf8mb4_bin ignores blanks at the end. $1 type and $2 id to
// begin after, $3 the last type, $4 the holder, $5 1 if owned and 0 if not, $6 the same of a lease
// or a closed time that is not over; null: any. $7 the most rows
inline constexpr std::string_view listed = R"sql(
 WHERE (l.lock_type = $1 AND l.source_id > $2 OR l.lock_type > $1) AND l.lock_type <= $3
   AND (l.owner IS NOT NULL OR l.expires_at > utc_timestamp(6))
   AND ($4 IS NULL OR CAST(l.holder AS BINARY) = $4)
   AND ($5 IS NULL OR (l.owner IS NOT NULL) = $5)
   AND ($6 IS NULL OR (l.expires_at > utc_timestamp(6)) = $6))sql";

// Parameters as above.
inline constexpr std::string_view list_by_key = R"sql(
SELECT l.lock_type, l.source_id, {columns}
  FROM shared_lock AS l FORCE INDEX (PRIMARY){listed}
 ORDER BY l.lock_type, l.source_id
 LIMIT $7
)sql";

// The longest held first, closed rows last.
inline constexpr std::string_view list_by_age = R"sql(
SELECT l.lock_type, l.source_id, {columns}
  FROM shared_lock AS l{listed}
 ORDER BY l.owner IS NULL, CASE WHEN l.owner IS NOT NULL THEN l.acquired_at END, l.lock_type, l.source_id
 LIMIT $7
)sql";

inline constexpr std::string_view list_by_remaining = R"sql(
SELECT l.lock_type, l.source_id, {columns}
  FROM shared_lock AS l{listed}
 ORDER BY l.expires_at, l.lock_type, l.source_id
 LIMIT $7
)sql";

// The statement of each order.
inline constexpr detail::list_texts list_texts{
    .by_key = list_by_key, .by_age = list_by_age, .by_remaining = list_by_remaining};

// The clock, in microseconds since 1970. No parameters.
inline constexpr std::string_view now = "SELECT {now_us}";

// Creates missing rows without an owner.
inline constexpr std::string_view insert_many_unowned = R"sql(
INSERT INTO shared_lock (lock_type, source_id, version)
SELECT w.lock_type, unhex(w.source_id), {now_us}
  FROM {list}
)sql";

// Creates a missing row without an owner; the insert id is the version.
// $1 type, $2 id
inline constexpr std::string_view insert_unowned = R"sql(
INSERT INTO shared_lock (lock_type, source_id, version)
VALUES ($1, $2, last_insert_id({now_us}))
)sql";

// Unsets leases that expired $2 microseconds ago, and counts them.
inline constexpr std::string_view prepare_many = R"sql(
UPDATE {rows: version}
   SET l.version = {next_version_of_l},
       l.owner = NULL, l.ended_at = l.expires_at, l.ended_as = 'ran out',
       l.expires_at = '1970-01-01 00:00:00', l.expiry_count = l.expiry_count + 1
 WHERE l.version = w.version AND l.owner IS NOT NULL
   AND l.expires_at <= utc_timestamp(6) - INTERVAL $2 MICROSECOND
)sql";

// Writes the holder's note into its row; an empty one deletes the last. Changes no row if the lease
// is lost.
inline constexpr std::string_view write_note = R"sql(
UPDATE {rows: owner, version, note}
   SET l.note = CONVERT(nullif(unhex(w.note), X'') USING utf8mb4)
 WHERE l.owner = unhex(w.owner) AND l.version = w.version
)sql";

// Asks the holder of a lease to yield. Changes no row if no lease has it at this version.
inline constexpr std::string_view ask = R"sql(
UPDATE {rows: version, holder, reason}
   SET l.asked_version = l.version, l.asked_at = utc_timestamp(6),
       l.asked_by = CONVERT(unhex(w.holder) USING utf8mb4),
       l.ask_reason = CONVERT(unhex(w.reason) USING utf8mb4)
 WHERE l.version = w.version AND l.owner IS NOT NULL
)sql";

// Returns the row if no transaction has locked it; locks it only while the statement runs. MySQL
// requires more privileges than SELECT to lock a row against readers.
// $1 type, $2 id
inline constexpr std::string_view lock_if_free = R"sql({skip_locked}
SELECT 1
  FROM shared_lock AS l
 WHERE l.lock_type = $1 AND l.source_id = $2
{lock_shown} SKIP LOCKED)sql";

// Ends a lease, or opens a closed row, by force, and records the reason. Changes no row if the
// version has changed or the row is free.
inline constexpr std::string_view force_release = R"sql(
UPDATE {rows: version, reason}
   SET l.version = {next_version_of_l},
       l.ended_at = IF(l.owner IS NULL, l.ended_at, utc_timestamp(6)),
       l.ended_as = IF(l.owner IS NULL, l.ended_as, 'forced'),
       l.owner = NULL, l.expires_at = '1970-01-01 00:00:00',
       l.forced_at = utc_timestamp(6), l.forced_from = l.holder,
       l.force_reason = CONVERT(unhex(w.reason) USING utf8mb4)
 WHERE l.version = w.version AND (l.owner IS NOT NULL OR l.expires_at > utc_timestamp(6))
)sql";

// Reads the next $3 keys in order, each with 1 if its row is idle and may be purged, else 0. The
// two conditions of the key make one range of the primary key.
// $1 type and $2 id to continue after, both empty at the beginning, $3 number of rows, $4
// microseconds for which an idle row has not been changed, $5 microseconds for which it must have
// been open
// A row `type#0` holds the number of rows `type#1` and so on, so it stays until these are gone.
// They are found one by one: a range of the key would go through the rows of all other ids as well.
inline constexpr std::string_view rows_to_purge = R"sql(
SELECT lock_type, source_id, version,
       owner IS NULL AND expires_at <= utc_timestamp(6) - INTERVAL $5 MICROSECOND
         AND done_until <= utc_timestamp(6)
         AND version < {now_us} - $4
         AND NOT (lock_type LIKE '%#0' AND EXISTS (
               SELECT 1
                 FROM json_table(concat('[', repeat('0,', 999), '0]'), '$[*]' COLUMNS (
                        number FOR ORDINALITY)) AS numbers
                 STRAIGHT_JOIN shared_lock AS n FORCE INDEX (PRIMARY)
                   ON n.lock_type = CONVERT(concat(left(l.lock_type, length(l.lock_type) - 1),
                                                   numbers.number) USING ascii)
                  AND n.source_id = l.source_id)) AS is_idle
  FROM shared_lock AS l FORCE INDEX (PRIMARY)
 WHERE lock_type >= $1 AND (lock_type > $1 OR source_id > $2)
 ORDER BY lock_type, source_id
 LIMIT $3
)sql";

// Deletes the idle rows that still have the version that was read.
inline constexpr std::string_view purge_many = R"sql(
DELETE l
  FROM {rows: version}
 WHERE l.version = w.version
)sql";

}  // namespace rowlock::mysql::sql

#endif
