// SQL that reads and prepares rows, and SQL for operators, on PostgreSQL. See leases.hpp.
#ifndef ROWLOCK_POSTGRES_SQL_ROWS_HPP
#define ROWLOCK_POSTGRES_SQL_ROWS_HPP

#include <string_view>

#include "store/list_values.hpp"

namespace rowlock::postgres::sql {

// The columns returned for a row `l`. Times left are in microseconds from now.
inline constexpr std::string_view state = R"sql(l.version, l.owner, l.holder,
       to_char(l.acquired_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') AS acquired_at,
       CASE WHEN isfinite(l.acquired_at)
            THEN (extract(epoch FROM clock_timestamp() - l.acquired_at) * 1000000)::bigint
        END AS since_us,
       l.ttl_us, l.correlation_id,
       to_char(l.ended_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') AS ended_at,
       CASE WHEN isfinite(l.acquired_at) AND isfinite(l.ended_at)
            THEN (extract(epoch FROM l.ended_at - l.acquired_at) * 1000000)::bigint
        END AS lasted_us, l.ended_as,
       l.waiting_until > clock_timestamp() AS is_waited_for,
       to_char(l.forced_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') AS forced_at,
       l.forced_from, l.asked_version, l.asked_by, l.ask_reason,
       to_char(l.asked_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') AS asked_at,
       {left_us} AS remaining_us,
       l.failure_count, l.expiry_count, l.note, l.force_reason, l.done_by,
       to_char(l.done_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') AS done_at,
       (extract(epoch FROM l.done_until - clock_timestamp()) * 1000000)::bigint AS done_left_us)sql";

// Reads the committed state of rows. Missing rows have no result. is_watched is false shortly
// before the mark ends, so that it is renewed in time.
// Arrays: $1 types, $2 ids
inline constexpr std::string_view read = R"sql(
SELECT w.place, {state},
       l.waiting_until > clock_timestamp() + interval '5 seconds' AS is_watched
  FROM unnest((SELECT $1::text[]), (SELECT $2::text[]))
       WITH ORDINALITY AS w (lock_type, source_id, place)
  JOIN shared_lock l ON l.lock_type = w.lock_type AND l.source_id = w.source_id
)sql";

// Marks rows as watched for 10 seconds: their release and grants send notifications. A release of a
// marked version locks the same row after this statement, so it cannot miss the mark. The commit
// does not wait for the disk: a crash may undo the mark, and waiters try from time to time anyway.
// Arrays: $1 types, $2 ids, $3 versions as they were read
inline constexpr std::string_view mark_watched = R"sql(
WITH k AS MATERIALIZED (
  SELECT {row}
    FROM unnest((SELECT $1::text[]), (SELECT $2::text[]), (SELECT $3::bigint[]))
         AS w (lock_type, source_id, version)
    JOIN shared_lock l ON l.lock_type = w.lock_type AND l.source_id = w.source_id
   WHERE l.version = w.version
     FOR NO KEY UPDATE OF l SKIP LOCKED)
UPDATE shared_lock l
   SET waiting_until = clock_timestamp() + interval '10 seconds'
  FROM k
 WHERE {same_row}
RETURNING (SELECT set_config('synchronous_commit', 'off', true)) AS committed
)sql";

// Reads the name of the table's notification channel. Payload of a release: `type id`. Payload of a
// grant: `+`, the duration of the lease, the time for which the row stays watched, both in
// microseconds, `type id`. Of a request to yield: `?type id`. No parameters.
inline constexpr std::string_view announcement_channel =
    "SELECT 'rowlock_' || 'shared_lock'::regclass::oid AS channel";

// Prepares rows for a commit at their version: unsets expired leases, creates missing rows. Returns
// the rows it changed; rows locked by other transactions stay as they are.
// Arrays: $1 types, $2 ids; $3 how many milliseconds to wait for a transaction that has created one
// of the rows
inline constexpr std::string_view prepare = R"sql(
WITH w AS MATERIALIZED (
  SELECT DISTINCT lock_type COLLATE "C" AS lock_type, source_id COLLATE "C" AS source_id
    FROM unnest((SELECT $1::text[]), (SELECT $2::text[])) AS u (lock_type, source_id)),
k AS MATERIALIZED (
  SELECT {row}
    FROM w
    JOIN shared_lock l ON l.lock_type = w.lock_type AND l.source_id = w.source_id
   WHERE l.owner IS NOT NULL AND l.expires_at <= {long_ago}
     FOR NO KEY UPDATE OF l SKIP LOCKED),
unset AS (
  UPDATE shared_lock l
     SET owner = NULL, expires_at = 'epoch', version = {next_version},
         ended_at = l.expires_at, ended_as = 'ran out', expiry_count = l.expiry_count + 1
    FROM k
   WHERE {same_row}
  RETURNING l.lock_type, l.source_id, l.version),
missing AS MATERIALIZED (
  SELECT w.lock_type, w.source_id
    FROM w
   WHERE NOT EXISTS (SELECT FROM shared_lock l
                      WHERE l.lock_type = w.lock_type AND l.source_id = w.source_id)),
inserted AS (
  INSERT INTO shared_lock (lock_type, source_id, version)
  SELECT m.lock_type, m.source_id, {now_us}
    FROM missing m
   WHERE {gate_of_m}
     AND (SELECT set_config('lock_timeout', $3::bigint::text, true)) IS NOT NULL
   ORDER BY m.lock_type, m.source_id
  ON CONFLICT (lock_type, source_id) DO NOTHING
  RETURNING lock_type, source_id, version)
SELECT lock_type, source_id, version FROM unset
UNION ALL
SELECT lock_type, source_id, version FROM inserted
)sql";

// The rows that are owned or closed, of a range of keys. The row comparison makes one range of the
// primary key.
// $1 type and $2 id to begin after, $3 the last type, $4 the holder, $5 1 if owned and 0 if not, $6
// the same of a lease or a closed time that is not over; null: any. $7 the most rows; null: all
inline constexpr std::string_view listed = R"sql(
SELECT l.lock_type, l.source_id, {state}
  FROM shared_lock l
 WHERE (l.lock_type, l.source_id) > ($1, $2) AND l.lock_type <= $3
   AND (l.owner IS NOT NULL OR l.expires_at > clock_timestamp())
   AND ($4::text IS NULL OR l.holder = $4::text)
   AND ($5::integer IS NULL OR (l.owner IS NOT NULL)::integer = $5::integer)
   AND ($6::integer IS NULL OR (l.expires_at > clock_timestamp())::integer = $6::integer))sql";

// Parameters as above.
inline constexpr std::string_view list_by_key = R"sql({listed}
 ORDER BY l.lock_type, l.source_id
 LIMIT $7::bigint
)sql";

// The longest held first, closed rows last.
inline constexpr std::string_view list_by_age = R"sql({listed}
 ORDER BY CASE WHEN l.owner IS NOT NULL THEN l.acquired_at END NULLS LAST,
          l.lock_type, l.source_id
 LIMIT $7::bigint
)sql";

inline constexpr std::string_view list_by_remaining = R"sql({listed}
 ORDER BY l.expires_at, l.lock_type, l.source_id
 LIMIT $7::bigint
)sql";

// The statement of each order.
inline constexpr detail::list_texts list_texts{
    .by_key = list_by_key, .by_age = list_by_age, .by_remaining = list_by_remaining};

// The clock. No parameters.
inline constexpr std::string_view now = "SELECT {now_us} AS now_us";

// Writes the holder's note into its row. No row if the lease is lost or the row is locked.
// $1 type, $2 id, $3 owner, $4 version, $5 the note; an empty one deletes the last
inline constexpr std::string_view write_note = R"sql(
UPDATE shared_lock l
   SET note = nullif($5::text, '')
 WHERE {unlocked_lease}
RETURNING 1 AS place, version
)sql";

// Asks the holder of a lease to yield: `announce_ask` has to follow. No row if no lease has the row
// at this version, or it is locked. $1 type, $2 id, $3 the version that was read, $4 by whom, $5
// the reason
inline constexpr std::string_view ask = R"sql(
UPDATE shared_lock l
   SET asked_version = l.version, asked_at = clock_timestamp(), asked_by = $4::text,
       ask_reason = $5::text
 WHERE l.ctid = (SELECT ctid
                   FROM shared_lock
                  WHERE {at_key} AND version = $3::bigint AND owner IS NOT NULL
                    FOR NO KEY UPDATE SKIP LOCKED)
   AND l.lock_type = $1 AND l.source_id = $2
RETURNING 1 AS place, l.version
)sql";

// Notifies the holders of requests to yield, unless the row has changed since.
// Arrays: $1 types, $2 ids, $3 versions
inline constexpr std::string_view announce_ask = R"sql(
SELECT pg_notify('rowlock_' || 'shared_lock'::regclass::oid,
                 '?' || l.lock_type || ' ' || l.source_id) AS announced{unchanged_rows})sql";

// Lists the sessions whose transactions hold the row, without locking it. A row lock shows only in
// xmax. That is the id of a transaction, or of a group of them that share the lock, and it stays
// when they are over.
// $1 type, $2 id
//
// `number` is the id without wraparound, counted from a recent one. Ids that are not assigned yet,
// which groups may have, are left out: they would be an error.
//
// A subtransaction that has ended (a savepoint, a block of PL/pgSQL) is in progress as long as its
// transaction, but is not listed anywhere. Then each session that changed or locked rows of this
// table under an older id may be the one: `maybe`.
inline constexpr std::string_view used_by = R"sql(
WITH seen AS MATERIALIZED (
  SELECT l.xmax AS id
    FROM shared_lock l
   WHERE l.lock_type = $1 AND l.source_id = $2),
lockers AS MATERIALIZED (
  SELECT id FROM seen
  UNION ALL
  SELECT m.xid
    FROM seen, pg_get_multixact_members(
                 CASE WHEN mxid_age(id) BETWEEN 1 AND (SELECT max(mxid_age(datminmxid))
                                                         FROM pg_database)
                      THEN id END) AS m),
running AS MATERIALIZED (
  SELECT id
    FROM (SELECT id, recent + age((recent % 4294967296)::text::xid) - age(id) AS number
            FROM lockers,
                 (SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint) AS s (recent)
         ) AS numbered
   WHERE CASE WHEN age(id) BETWEEN 1 AND 2147483646 AND number > 2
              THEN pg_xact_status(number::text::xid8) END = 'in progress'),
holders AS MATERIALIZED (
  SELECT h.pid, h.transactionid, h.virtualtransaction, r.id
    FROM pg_locks h, running r
   WHERE h.locktype = 'transactionid' AND h.mode = 'ExclusiveLock' AND h.granted
     AND age(h.transactionid) >= age(r.id)),
known AS MATERIALIZED (
  SELECT pid, false AS maybe FROM holders WHERE transactionid = id
  UNION
  SELECT pid, true
    FROM holders h
   WHERE pid IS DISTINCT FROM pg_backend_pid()
     AND NOT EXISTS (SELECT FROM holders e WHERE e.id = h.id AND e.transactionid = e.id)
     AND EXISTS (SELECT
                   FROM pg_locks t
                  WHERE t.virtualtransaction = h.virtualtransaction AND t.locktype = 'relation'
                    AND t.relation = 'shared_lock'::regclass
                    AND t.database = (SELECT oid FROM pg_database
                                       WHERE datname = current_database())
                    AND t.mode IN ('RowShareLock', 'RowExclusiveLock')))
SELECT k.pid, a.application_name,
       to_char(a.xact_start AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS') AS since,
       coalesce(k.maybe, false) AS maybe, k.maybe IS NOT NULL AS is_known
  FROM (SELECT 1 FROM running LIMIT 1) r
  LEFT JOIN known k ON true
  LEFT JOIN pg_stat_activity a ON a.pid = k.pid
 ORDER BY k.maybe, k.pid
)sql";

// Ends a lease, or opens a closed row, by force, and records the reason. If `is_watched`,
// `announce` has to follow. No row if the version has changed, the row is free, or it is locked.
// $1 type, $2 id, $3 the version that was read, $4 the reason
inline constexpr std::string_view force_release = R"sql(
UPDATE shared_lock l
   SET owner = NULL, expires_at = 'epoch', version = {next_version},
       ended_at = CASE WHEN l.owner IS NULL THEN l.ended_at ELSE clock_timestamp() END,
       ended_as = CASE WHEN l.owner IS NULL THEN l.ended_as ELSE 'forced' END,
       forced_at = clock_timestamp(), forced_from = l.holder, force_reason = $4::text
 WHERE l.ctid = (SELECT ctid
                   FROM shared_lock
                  WHERE lock_type = $1 AND source_id = $2 AND version = $3::bigint
                    AND (owner IS NOT NULL OR expires_at > {long_ago})
                    FOR NO KEY UPDATE SKIP LOCKED)
   AND l.lock_type = $1 AND l.source_id = $2
RETURNING 1 AS place, l.version, l.waiting_until > clock_timestamp() AS is_watched
)sql";

// Purges idle rows among the next keys: unowned, open, without a valid done mark, and with an old
// version. Returns the last key it has read, and how many rows it has read and deleted.
// $1 type and $2 id to continue after, $3 how many keys to read, $4 smallest age of the version in
// microseconds
// A row `type#0` holds the number of rows `type#1` and so on, so it stays until these are gone.
// They are found one by one: a range of the index would go through the rows of all other ids as
// well.
inline constexpr std::string_view purge = R"sql(
WITH looked AS MATERIALIZED (
  SELECT lock_type, source_id
    FROM shared_lock
   WHERE (lock_type, source_id) > ($1, $2)
   ORDER BY lock_type, source_id
   LIMIT $3::bigint),
k AS MATERIALIZED (
  SELECT {row}
    FROM looked w
    JOIN shared_lock l ON l.lock_type = w.lock_type AND l.source_id = w.source_id
   WHERE l.owner IS NULL AND l.expires_at <= {long_ago} AND l.done_until <= clock_timestamp()
     AND l.version < {now_us} - $4::bigint
     AND NOT (l.lock_type LIKE '%#0' AND EXISTS (
           SELECT 1
             FROM shared_lock n
            WHERE n.source_id = l.source_id
              AND n.lock_type = ANY (ARRAY(SELECT left(l.lock_type, -1) || number
                                             FROM generate_series(1, 1000) AS number))))
     FOR UPDATE OF l SKIP LOCKED),
purged AS (
  DELETE FROM shared_lock l
   USING k
   WHERE {same_row}
  RETURNING 1)
SELECT lock_type, source_id,
       (SELECT count(*) FROM looked) AS looked, (SELECT count(*) FROM purged) AS purged
  FROM looked
 ORDER BY lock_type DESC, source_id DESC
 LIMIT 1
)sql";

// Reads the next key, of a row that could not be purged.
// $1 type and $2 id to continue after
inline constexpr std::string_view next_key = R"sql(
SELECT lock_type, source_id
  FROM shared_lock
 WHERE (lock_type, source_id) > ($1, $2)
 ORDER BY lock_type, source_id
 LIMIT 1
)sql";

}  // namespace rowlock::postgres::sql

#endif
