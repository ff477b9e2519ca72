// SQL in the application's transaction, on PostgreSQL. See leases.hpp.
#ifndef ROWLOCK_POSTGRES_SQL_TRANSACTIONS_HPP
#define ROWLOCK_POSTGRES_SQL_TRANSACTIONS_HPP

#include <string_view>

namespace rowlock::postgres::sql {

// For drivers whose own calls to begin and end a transaction would put statement texts into their
// errors.
inline constexpr std::string_view begin = "BEGIN";

inline constexpr std::string_view commit = "COMMIT";

inline constexpr std::string_view roll_back = "ROLLBACK";

// Locks a free row that no other transaction has or waits for; see the function's comment in the
// migration. Returns its new version, or null.
// $1 type, $2 id
inline constexpr std::string_view try_to_lock_row =
    "SELECT shared_lock_try($1::text, $2::text, {skew_ms}) AS version";

// Locks rows until the transaction ends, and waits for them; see the function's comment in the
// migration.
// Arrays: $1 types, $2 ids; $3 how long to wait in milliseconds, $4 whether to create missing rows
inline constexpr std::string_view lock_rows = R"sql(
SELECT state, lock_type, source_id, version, holder, remaining_us
  FROM shared_lock_lock($1::text[], $2::text[], $3::integer, $4::boolean, {skew_ms})
)sql";

// Around statements that may meet a conflict, so that a conflict does not end the transaction.
inline constexpr std::string_view savepoint = "SAVEPOINT rowlock";

inline constexpr std::string_view roll_back_to_savepoint = "ROLLBACK TO SAVEPOINT rowlock";

inline constexpr std::string_view release_savepoint = "RELEASE SAVEPOINT rowlock";

// Around a statement that sets a lock_timeout of its own, in a transaction of the application.
inline constexpr std::string_view lock_timeout =
    "SELECT current_setting('lock_timeout') AS lock_timeout";

// $1 as it was
inline constexpr std::string_view restore_lock_timeout =
    "SELECT set_config('lock_timeout', $1, true)";

// Advances the version of an unowned, open row, if it is the one that was read: the compare-and-set
// of an optimistic commit. Changes no row otherwise, or if the row is locked.
// $1 type, $2 id, $3 the version that was read
inline constexpr std::string_view advance = R"sql(
UPDATE shared_lock l
   SET version = {next_version}, holder = NULL, acquired_at = NULL,
       expires_at = 'epoch', ended_at = clock_timestamp(), ended_as = 'committed'
 WHERE ctid = (SELECT ctid
                 FROM shared_lock
                WHERE lock_type = $1 AND source_id = $2
                  AND version = $3::bigint AND owner IS NULL AND expires_at <= {long_ago}
                  FOR NO KEY UPDATE SKIP LOCKED)
   AND lock_type = $1 AND source_id = $2
)sql";

// Statements on a row of the application. Their texts are rendered for its table: {entities} is the
// table, {same_id} compares its id with the first parameters, $1 and so on; {version} is its
// version column, {seen} the parameter behind those of the id: the version that was read;
// {strength} that of the lock, NO KEY UPDATE or UPDATE.

// Locks the table as the next statement does, which has SKIP LOCKED for rows only. Waits for {ms}
// milliseconds, and at most for half of the application's own statement_timeout. The limit is for
// the lock alone: every statement waits where VACUUM truncates a catalog, and no other one here may
// fail for it. Raises no error if it cannot lock: some versions of libpqxx end the transaction if a
// statement without values fails. Returns the code of that error, or an empty text, and what kind
// of relation it is.
inline constexpr std::string_view lock_entities = R"sql(
SELECT set_config('rowlock.refused', '', true);
DO $rowlock$
DECLARE
  callers_timeout CONSTANT text := current_setting('lock_timeout');
BEGIN
  PERFORM set_config('lock_timeout', greatest(1, least({ms}, extract(
            epoch FROM nullif(current_setting('statement_timeout')::interval, interval '0')) * 500
          ))::bigint::text, true);
  PERFORM 1 FROM {entities} AS entity WHERE false FOR {strength};
  PERFORM set_config('lock_timeout', callers_timeout, true);
EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
  PERFORM set_config('rowlock.refused', SQLSTATE, true);
END
$rowlock$;
SELECT current_setting('rowlock.refused') AS refused,
       (SELECT relkind IN ('r', 'p') FROM pg_class WHERE oid = '{entities}'::regclass) AS is_table
)sql";

// Locks the row unless another transaction has it. Does not wait.
inline constexpr std::string_view try_to_lock_entity = R"sql(
WITH had AS MATERIALIZED (
  SELECT 1 FROM {entities} AS entity WHERE {same_id} FOR {strength} SKIP LOCKED)
SELECT EXISTS (SELECT FROM had) AS locked,
       EXISTS (SELECT FROM {entities} AS entity WHERE {same_id}) AS there
)sql";

// Locks the row, and waits for it.
inline constexpr std::string_view await_entity = R"sql(
SELECT 1 FROM {entities} AS entity WHERE {same_id} FOR {strength}
)sql";

// Limits the statements that follow in this transaction. A lock_timeout starts anew for each lock
// that a statement meets, so a statement_timeout that is a little longer ends the statement.
// Returns the limit, which is at most half of the application's own statement_timeout, and the
// settings to restore. $1 the limit in milliseconds
inline constexpr std::string_view limit_waiting = R"sql(
WITH was AS MATERIALIZED (
  SELECT current_setting('lock_timeout') AS lock_timeout,
         current_setting('statement_timeout') AS statement_timeout),
allowed AS MATERIALIZED (
  SELECT greatest(1, least($1::bigint, extract(
           epoch FROM nullif(statement_timeout::interval, interval '0')) * 500))::bigint AS ms
    FROM was)
SELECT allowed.ms, was.lock_timeout, was.statement_timeout,
       set_config('lock_timeout', allowed.ms::text, true),
       set_config('statement_timeout', (allowed.ms + 20)::text, true)
  FROM was, allowed
)sql";

// $1 lock_timeout, $2 statement_timeout, as limit_waiting returned them
inline constexpr std::string_view restore_limits = R"sql(
SELECT set_config('lock_timeout', $1, true), set_config('statement_timeout', $2, true)
)sql";

// The microseconds of a time; null for an infinite one.
inline constexpr std::string_view microseconds = R"sql(
       CASE WHEN isfinite(entity.{version})
            THEN (extract(epoch FROM entity.{version}) * 1000000)::bigint END)sql";

// Reads the version.
inline constexpr std::string_view read_number = R"sql(
SELECT CASE WHEN entity.{version} = trunc(entity.{version})
            THEN entity.{version}::bigint END AS version
  FROM {entities} AS entity WHERE {same_id}
)sql";

inline constexpr std::string_view read_time = R"sql(
SELECT {microseconds} AS version FROM {entities} AS entity WHERE {same_id}
)sql";

// Moves the version if it is the one that was read, and returns the new one.
inline constexpr std::string_view advance_number = R"sql(
UPDATE {entities} AS entity
   SET {version} = entity.{version} + 1
 WHERE {same_id} AND entity.{version} = {seen}::bigint
RETURNING entity.{version}::bigint AS version
)sql";

inline constexpr std::string_view advance_time = R"sql(
UPDATE {entities} AS entity
   SET {version} = greatest(entity.{version} + interval '1 microsecond', clock_timestamp())
 WHERE {same_id} AND {microseconds} = {seen}::bigint
RETURNING {microseconds} AS version
)sql";

// Adds 1 to failure_count of the rows without a live lease that are not closed or locked.
// Arrays: $1 types, $2 ids
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

// The fences prove in the application's transaction that its leases are still held. The fences that
// write change all rows or none, so that they can be tried again. Where a lease is over, no row is
// locked, unless it ends while the statement looks for it.

// Fences one lease; see the function's comment in the migration. Returns the row's version, that of
// the release if it is released, or null.
// $1 type, $2 id, $3 version, $4 how long the transaction may be idle, such as 10000ms, $5 write,
// share or release
inline constexpr std::string_view fence_one =
    "SELECT shared_lock_fence($1::text, $2::text, $3::bigint, $4::text, $5::text) AS version";

// Fence any leases, and name the transaction: how many rows are fenced, which must be all.
// Arrays: $1 types, $2 ids, $3 versions; $4 as above, $5 whether to name the transaction

// Fences by changing the rows, which no other transaction can miss.
inline constexpr std::string_view fence_by_writing = R"sql(
WITH {held_rows},
k AS MATERIALIZED (
  SELECT {row}
    FROM held w
    JOIN shared_lock l ON {as_seen}
   WHERE (SELECT count(*) FROM held) = cardinality($1::text[])
     FOR NO KEY UPDATE OF l SKIP LOCKED),
fenced AS (
  UPDATE shared_lock l
     SET fence_count = l.fence_count + 1
    FROM k
   WHERE {same_row} AND (SELECT count(*) FROM k) = cardinality($1::text[])
  RETURNING 1)
SELECT {all_or_none} AS fenced, {transaction_name}, {limit_idle_time} AS idle_limit
  FROM (SELECT count(*) AS n FROM fenced) AS g
)sql";

// Fences by a share lock, which blocks a takeover and does not change the row.
inline constexpr std::string_view fence_by_sharing = R"sql(
WITH {held_rows},
fenced AS MATERIALIZED (
  SELECT 1
    FROM held w
    JOIN shared_lock l ON {as_seen}
   WHERE (SELECT count(*) FROM held) = cardinality($1::text[])
     FOR SHARE OF l SKIP LOCKED)
SELECT f.fenced, {transaction_name}, {limit_idle_time} AS idle_limit
  FROM (SELECT count(*) AS fenced FROM fenced) f
)sql";

// Fences, releases the leases when the transaction commits, and marks the rows. Returns their new
// versions, in the order of the keys.
// Parameters of a fence, and arrays: $6 how long the rows stay closed, $7 how long the work is
// remembered as done or 0, in microseconds
inline constexpr std::string_view release_with = R"sql(
WITH held AS MATERIALIZED (
  SELECT {seen_row}, w.*
    FROM unnest($1::text[], $2::text[], $3::bigint[], $6::bigint[], $7::bigint[])
         WITH ORDINALITY AS w (lock_type, source_id, version, stay_closed, done_for, place)
    JOIN shared_lock l ON l.lock_type = w.lock_type AND l.source_id = w.source_id
   WHERE l.version = w.version AND l.owner IS NOT NULL),
k AS MATERIALIZED (
  SELECT {row}, w.place, false AS failed, w.stay_closed, nullif(w.done_for, 0) AS done_for
    FROM held w
    JOIN shared_lock l ON {as_seen}
   WHERE (SELECT count(*) FROM held) = cardinality($1::text[])
     FOR NO KEY UPDATE OF l SKIP LOCKED),
fenced AS (
  UPDATE shared_lock l
     SET {as_released}
    FROM k
   WHERE {same_row} AND (SELECT count(*) FROM k) = cardinality($1::text[])
  RETURNING k.place, l.version)
SELECT {all_or_none} AS fenced, g.versions, {transaction_name}, {limit_idle_time} AS idle_limit
  FROM (SELECT count(*) AS n, string_agg(version::text, ' ' ORDER BY place) AS versions
          FROM fenced) AS g
)sql";

// Limits the idle time of this transaction, unless a smaller limit is set ('0' is none).
inline constexpr std::string_view limit_idle_time = R"sql(
       CASE WHEN current_setting('idle_in_transaction_session_timeout')::interval
                 NOT BETWEEN interval '1 microsecond' AND $4::text::interval
            THEN set_config('idle_in_transaction_session_timeout', $4::text, true)
        END)sql";

// Names the transaction: its id, and the lifetime of the server that it belongs to. After a crash,
// or on another server, the same id may belong to another transaction. A crash resets the
// statistics. If they are reset by hand, only the answer is lost.
inline constexpr std::string_view transaction_name = R"sql(
       CASE WHEN $5::boolean
            THEN pg_current_xact_id_if_assigned()::text || ' ' || (
                 SELECT extract(epoch FROM stats_reset)::text FROM pg_stat_archiver)
        END AS name
)sql";

// Reads whether a transaction committed; null if this server cannot know it.
// $1 the id of a transaction, $2 the lifetime of its server
inline constexpr std::string_view fate = R"sql(
SELECT CASE WHEN extract(epoch FROM stats_reset)::text = $2::text AND NOT pg_is_in_recovery()
            THEN pg_xact_status($1::xid8)
        END AS fate
  FROM pg_stat_archiver
)sql";

}  // namespace rowlock::postgres::sql

#endif
