// The text of the statements for PostgreSQL that are there for operators.
//
// What postgres_statements.hpp says of all of them holds for these too.
#include "postgres/sql/operator_statements.hpp"

#include <string_view>

#include "postgres/sql/spelling.hpp"

namespace rowlock::sql {

namespace {

// $1 type, $2 id, $3 owner, $4 version, $5 the note; empty takes the last one away
constexpr std::string_view write_note = R"sql(
UPDATE shared_lock
   SET note = nullif($5::text, '')
 WHERE ctid = (SELECT ctid
                 FROM shared_lock
                WHERE lock_type = $1 AND source_id = $2 AND owner = $3 AND version = $4::bigint
                  FOR NO KEY UPDATE SKIP LOCKED)
   AND lock_type = $1 AND source_id = $2
RETURNING 1 AS place, version
)sql";

// The sessions whose transactions have the row, without asking for it: a lock on a row shows in its
// xmax alone. That is the id of a transaction, or of a group of them that share the lock, and it
// stays there when they are over. `number` is the id without wraparound, counted from a recent one.
// Ids that were not given out yet, which groups may have, are left out: they would be an error. $1
// type, $2 id
//
// A subtransaction that has ended (a savepoint, a block of PL/pgSQL) is in progress as long as its
// transaction, but in no list. Then the session is one of those that changed or locked rows of this
// table under an id that is older: `maybe`.
constexpr std::string_view used_by = R"sql(
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

// $1 type, $2 id, $3 the version that is to be taken away, $4 why
constexpr std::string_view force_release = R"sql(
UPDATE shared_lock l
   SET owner = NULL, holder = NULL, acquired_at = NULL, expires_at = 'epoch',
       version = greatest(l.version + 1, {now_us}),
       force_reason = $4::text
 WHERE l.ctid = (SELECT ctid
                   FROM shared_lock
                  WHERE lock_type = $1 AND source_id = $2 AND version = $3::bigint
                    AND (owner IS NOT NULL OR expires_at > {long_ago})
                    FOR NO KEY UPDATE SKIP LOCKED)
   AND l.lock_type = $1 AND l.source_id = $2
RETURNING 1 AS place, l.version, {announcement} AS announced
)sql";

// Goes through the keys after ($1, $2), $3 of them, and deletes those whose version is $4
// microseconds behind the clock and that mean nothing to anybody. A row `type#0` says how many of
// `type#1` and so on there are, so it stays until these are gone. They are looked for one by one: a
// range of the index would go through those of all other ids too.
constexpr std::string_view purge = R"sql(
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

}  // namespace

postgres_operator_statements::postgres_operator_statements(const postgres_table& table)
    : write_note{in_postgres(table, sql::write_note)},
      used_by{in_postgres(table, sql::used_by)},
      force_release{in_postgres(table, sql::force_release)},
      purge{in_postgres(table, sql::purge)} {}

}  // namespace rowlock::sql
