// SQL in the application's transaction, on PostgreSQL. See leases.hpp.
#ifndef ROWLOCK_POSTGRES_SQL_TRANSACTIONS_HPP
#define ROWLOCK_POSTGRES_SQL_TRANSACTIONS_HPP

#include <string_view>

namespace rowlock::postgres::sql {

// For drivers whose own ways to begin and to end would tell their words about it.
inline constexpr std::string_view begin = "BEGIN";

inline constexpr std::string_view commit = "COMMIT";

inline constexpr std::string_view roll_back = "ROLLBACK";

// $1 types, $2 ids, $3 how long to wait in milliseconds, $4 whether to create missing rows; see the
// function's own comment in the migration
inline constexpr std::string_view lock_rows = R"sql(
SELECT state, lock_type, source_id, version, holder, remaining_us
  FROM shared_lock_lock($1::text[], $2::text[], $3::integer, $4::boolean, {skew_ms})
)sql";

// Around what may meet a conflict without ending the transaction.
inline constexpr std::string_view savepoint = "SAVEPOINT rowlock";

inline constexpr std::string_view roll_back_to_savepoint = "ROLLBACK TO SAVEPOINT rowlock";

inline constexpr std::string_view release_savepoint = "RELEASE SAVEPOINT rowlock";

// The compare-and-set of an optimistic commit. $1 type, $2 id, $3 the version seen
inline constexpr std::string_view advance = R"sql(
UPDATE shared_lock
   SET version = greatest(version + 1, {now_us})
 WHERE ctid = (SELECT ctid
                 FROM shared_lock
                WHERE lock_type = $1 AND source_id = $2
                  AND version = $3::bigint AND owner IS NULL AND expires_at <= {long_ago}
                  FOR NO KEY UPDATE SKIP LOCKED)
   AND lock_type = $1 AND source_id = $2
)sql";

// Counts for rows that nobody has. Arrays: $1 types, $2 ids
inline constexpr std::string_view count_failures = R"sql(
WITH k AS MATERIALIZED (
  SELECT {row}
    FROM unnest($1::text[], $2::text[]) AS w (lock_type, source_id)
    JOIN shared_lock l ON l.lock_type = w.lock_type AND l.source_id = w.source_id
   WHERE l.expires_at <= clock_timestamp()
     FOR NO KEY UPDATE OF l SKIP LOCKED)
UPDATE shared_lock l
   SET failure_count = l.failure_count + 1
  FROM k
 WHERE {same_row}
)sql";

// The fences. Arrays: $1 types, $2 ids, $3 versions; $4 how long the transaction may be idle, in
// milliseconds; $5 whether to name the transaction. They return how many rows are fenced: it must
// be all. Those that write change all rows or none, so that they can be tried again.

// The row changes, which no contender can miss.
inline constexpr std::string_view fence_by_writing = R"sql(
WITH k AS MATERIALIZED (
  SELECT {row}
    FROM unnest($1::text[], $2::text[], $3::bigint[]) AS w (lock_type, source_id, version)
    JOIN shared_lock l ON l.lock_type = w.lock_type AND l.source_id = w.source_id
   WHERE l.version = w.version AND l.owner IS NOT NULL
     FOR NO KEY UPDATE OF l SKIP LOCKED),
fenced AS (
  UPDATE shared_lock l
     SET fence_count = l.fence_count + 1
    FROM k
   WHERE {same_row} AND (SELECT count(*) FROM k) = cardinality($1::text[])
  RETURNING 1)
SELECT f.fenced, {transaction_name}, {limit_idle_time}
  FROM (SELECT count(*) AS fenced FROM fenced) f
)sql";

// The row is locked against being taken over, and not changed.
inline constexpr std::string_view fence_by_sharing = R"sql(
WITH fenced AS MATERIALIZED (
  SELECT 1
    FROM unnest($1::text[], $2::text[], $3::bigint[]) AS w (lock_type, source_id, version)
    JOIN shared_lock l ON l.lock_type = w.lock_type AND l.source_id = w.source_id
   WHERE l.version = w.version AND l.owner IS NOT NULL
     FOR SHARE OF l SKIP LOCKED)
SELECT f.fenced, {transaction_name}, {limit_idle_time}
  FROM (SELECT count(*) AS fenced FROM fenced) f
)sql";

// A fence that unsets the rows as well, when the transaction commits. Arrays: $6 how long the rows
// stay closed, $7 how long the work is remembered as done or null, in microseconds. Answers which
// versions the rows have now, in the order of the keys.
inline constexpr std::string_view release_with = R"sql(
WITH k AS MATERIALIZED (
  SELECT {row}, w.place, w.stay_closed, w.done_for
    FROM unnest($1::text[], $2::text[], $3::bigint[], $6::bigint[], $7::bigint[])
         WITH ORDINALITY AS w (lock_type, source_id, version, stay_closed, done_for, place)
    JOIN shared_lock l ON l.lock_type = w.lock_type AND l.source_id = w.source_id
   WHERE l.version = w.version AND l.owner IS NOT NULL
     FOR NO KEY UPDATE OF l SKIP LOCKED),
fenced AS (
  UPDATE shared_lock l
     SET {as_released}
    FROM k
   WHERE {same_row} AND (SELECT count(*) FROM k) = cardinality($1::text[])
  RETURNING k.place, l.version)
SELECT f.fenced, f.versions, {transaction_name}, {limit_idle_time}
  FROM (SELECT count(*) AS fenced, string_agg(version::text, ' ' ORDER BY place) AS versions
          FROM fenced) f
)sql";

// For this transaction, and only if no smaller limit is set ('0' is none).
inline constexpr std::string_view limit_idle_time = R"sql(
       CASE WHEN current_setting('idle_in_transaction_session_timeout')::interval
                 NOT BETWEEN interval '1 microsecond' AND $4::bigint * interval '1 millisecond'
            THEN set_config('idle_in_transaction_session_timeout', $4::bigint || 'ms', true)
        END AS idle_limit
)sql";

// The transaction's id, and which life of which server it belongs to: after a crash, or on another
// server, the same id may be another transaction's. A crash resets the statistics, and who resets
// them without one only gives up the answer.
inline constexpr std::string_view transaction_name = R"sql(
       CASE WHEN $5::boolean
            THEN pg_current_xact_id_if_assigned()::text || ' ' || (
                 SELECT extract(epoch FROM stats_reset)::text FROM pg_stat_archiver)
        END AS name
)sql";

// $1 the id of a transaction, $2 the life of its server
inline constexpr std::string_view fate = R"sql(
SELECT CASE WHEN extract(epoch FROM stats_reset)::text = $2::text AND NOT pg_is_in_recovery()
            THEN pg_xact_status($1::xid8)
        END AS fate
  FROM pg_stat_archiver
)sql";

}  // namespace rowlock::postgres::sql

#endif
