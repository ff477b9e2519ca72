// The text of the statements for PostgreSQL.
//
// What they have in common:
//   - clock_timestamp(), not now(): now() stands still in a transaction, so a lease could be born
//     expired.
//   - The new version is greatest(version + 1, microseconds since 1970), from the row as it is.
//   - A lease statement takes its row with SKIP LOCKED and then writes it by its ctid: it waits for
//     nobody's transaction, and a refused one writes nothing, not even a transaction id.
//   - Every insert of a key is behind pg_try_advisory_xact_lock of that key and table, so inserters
//     do not wait for each other's transactions either. A collision of hashes costs a refusal.
#include "sql/postgres_statements.hpp"

#include <string_view>

namespace rowlock::sql {

namespace {

// Of a connection whose startup packet did not say it. Behind a pooler the session is not ours:
// what is set there would stay for its other clients and be missing for us. A pooler tells its
// clients process ids of its own making. $1 the process id that we were told, $2 the time limit of
// a statement in milliseconds, or null; what the connection string says goes before it.
constexpr std::string_view pin_session = R"sql(
SELECT CASE WHEN s.is_ours
            THEN set_config('default_transaction_isolation', 'read committed', false)
        END AS isolation,
       CASE WHEN s.is_ours AND s.source <> 'client' AND $2::bigint IS NOT NULL
            THEN set_config('statement_timeout', $2::bigint || 'ms', false)
        END AS statement_timeout
  FROM (SELECT pg_backend_pid() = $1::integer AS is_ours, source
          FROM pg_settings
         WHERE name = 'statement_timeout') s
)sql";

// Whether migrations were ever applied here.
constexpr std::string_view schema_exists =
    "SELECT to_regclass('shared_lock_schema') IS NOT NULL AS is_there";

// The number of the last migration that is applied.
constexpr std::string_view schema_version =
    "SELECT coalesce(max(number), 0) AS number FROM shared_lock_schema";

// For this transaction, before anything else in it: who waits for a turn sees what was done in the
// turns before.
constexpr std::string_view read_committed = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED";

// With these a server that crashes forgets what it has acknowledged.
constexpr std::string_view weak_settings = R"sql(
SELECT name
  FROM pg_settings
 WHERE setting = 'off' AND name IN ('fsync', 'full_page_writes', 'synchronous_commit')
 ORDER BY name
)sql";

// Those who migrate take turns, until their transactions end.
constexpr std::string_view take_migration_turn =
    "SELECT pg_advisory_xact_lock(hashtextextended('rowlock migrate', 0))";

// Of what it grants it answers who had a lease that ran out, if another owner had one, and what is
// left of that: RETURNING sees the old row only through k. (Joined with k, the plan for a small
// table would read all of it; so the row is found by its ctid alone.)
// $1 type, $2 id, $3 owner, $4 holder, $5 ttl in microseconds, $6 expected version or null
constexpr std::string_view acquire = R"sql(
WITH k AS MATERIALIZED (
  SELECT ctid AS row_id, owner AS last_owner, holder AS last_holder, expires_at AS ran_out_at
    FROM shared_lock
   WHERE lock_type = $1 AND source_id = $2 AND expires_at <= clock_timestamp()
     AND ($6::bigint IS NULL OR (version = $6::bigint AND owner IS NULL))
     FOR NO KEY UPDATE SKIP LOCKED)
UPDATE shared_lock
   SET owner = $3, holder = $4, acquired_at = clock_timestamp(),
       version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint),
       expires_at = clock_timestamp() + $5::bigint * interval '1 microsecond',
       expiry_count = expiry_count + (owner IS NOT NULL AND owner <> $3)::integer
 WHERE ctid = (SELECT row_id FROM k)
RETURNING 1 AS place, version, (SELECT last_holder FROM k),
          (SELECT (extract(epoch FROM ran_out_at - clock_timestamp()) * 1000000)::bigint
             FROM k
            WHERE last_owner <> $3) AS left_of_last_us
)sql";

// Arrays: $1 types, $2 ids, $3 owners, $4 holders, $5 ttls in microseconds, $6 expected versions
constexpr std::string_view acquire_many = R"sql(
WITH k AS MATERIALIZED (
  SELECT l.ctid AS row_id, w.owner, w.holder, w.ttl, w.place,
         l.owner AS last_owner, l.holder AS last_holder, l.expires_at AS ran_out_at
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[])
         WITH ORDINALITY AS w (lock_type, source_id, owner, holder, ttl, expected, place)
    JOIN shared_lock l ON l.lock_type = w.lock_type AND l.source_id = w.source_id
   WHERE l.expires_at <= clock_timestamp()
     AND (w.expected IS NULL OR (l.version = w.expected AND l.owner IS NULL))
     FOR NO KEY UPDATE OF l SKIP LOCKED)
UPDATE shared_lock l
   SET owner = k.owner, holder = k.holder, acquired_at = clock_timestamp(),
       version = greatest(l.version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint),
       expires_at = clock_timestamp() + k.ttl * interval '1 microsecond',
       expiry_count = l.expiry_count + (l.owner IS NOT NULL AND l.owner <> k.owner)::integer
  FROM k
 WHERE l.ctid = k.row_id
RETURNING k.place, l.version, k.last_holder,
          CASE WHEN k.last_owner <> k.owner
               THEN (extract(epoch FROM k.ran_out_at - clock_timestamp()) * 1000000)::bigint
           END AS left_of_last_us
)sql";

// Of missing rows. Arrays: $1 types, $2 ids, $3 owners, $4 holders, $5 ttls in microseconds
constexpr std::string_view insert_many = R"sql(
WITH w AS MATERIALIZED (
  SELECT DISTINCT ON (lock_type COLLATE "C", source_id COLLATE "C") *
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[])
         WITH ORDINALITY AS u (lock_type, source_id, owner, holder, ttl, place)
   ORDER BY lock_type COLLATE "C", source_id COLLATE "C", place),
inserted AS (
  INSERT INTO shared_lock (lock_type, source_id, version, owner, holder, acquired_at, expires_at)
  SELECT w.lock_type, w.source_id, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
         w.owner, w.holder, clock_timestamp(),
         clock_timestamp() + w.ttl * interval '1 microsecond'
    FROM w
   WHERE pg_try_advisory_xact_lock(hashtextextended(
           w.source_id, hashtextextended(w.lock_type, 'shared_lock'::regclass::bigint)))
  ON CONFLICT DO NOTHING
  RETURNING lock_type, source_id, version)
SELECT w.place, i.version
  FROM inserted i
  JOIN w ON w.lock_type = i.lock_type AND w.source_id = i.source_id
)sql";

// $1 type, $2 id, $3 owner, $4 version, $5 ttl in microseconds
constexpr std::string_view renew = R"sql(
UPDATE shared_lock
   SET expires_at = clock_timestamp() + $5::bigint * interval '1 microsecond'
 WHERE ctid = (SELECT ctid
                 FROM shared_lock
                WHERE lock_type = $1 AND source_id = $2 AND owner = $3 AND version = $4::bigint
                  FOR NO KEY UPDATE SKIP LOCKED)
RETURNING 1 AS place, version
)sql";

// Arrays: $1 types, $2 ids, $3 owners, $4 versions, $5 ttls in microseconds
constexpr std::string_view renew_many = R"sql(
WITH k AS MATERIALIZED (
  SELECT l.ctid AS row_id, w.ttl, w.place
    FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[])
         WITH ORDINALITY AS w (lock_type, source_id, owner, version, ttl, place)
    JOIN shared_lock l ON l.lock_type = w.lock_type AND l.source_id = w.source_id
   WHERE l.owner = w.owner AND l.version = w.version
     FOR NO KEY UPDATE OF l SKIP LOCKED)
UPDATE shared_lock l
   SET expires_at = clock_timestamp() + k.ttl * interval '1 microsecond'
  FROM k
 WHERE l.ctid = k.row_id
RETURNING k.place, l.version
)sql";

// $1 type, $2 id, $3 owner, $4 version, $5 whether the callback failed
constexpr std::string_view release = R"sql(
UPDATE shared_lock
   SET owner = NULL, holder = NULL, acquired_at = NULL, expires_at = 'epoch',
       version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint),
       failure_count = failure_count + $5::boolean::integer
 WHERE ctid = (SELECT ctid
                 FROM shared_lock
                WHERE lock_type = $1 AND source_id = $2 AND owner = $3 AND version = $4::bigint
                  FOR NO KEY UPDATE SKIP LOCKED)
RETURNING 1 AS place, version,
          CASE WHEN waiting_until > clock_timestamp()
               THEN pg_notify('rowlock_' || 'shared_lock'::regclass::oid,
                              lock_type || ' ' || source_id) END AS announced
)sql";

// Arrays: $1 types, $2 ids, $3 owners, $4 versions, $5 whether the callbacks failed
constexpr std::string_view release_many = R"sql(
WITH k AS MATERIALIZED (
  SELECT l.ctid AS row_id, w.failed, w.place
    FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::boolean[])
         WITH ORDINALITY AS w (lock_type, source_id, owner, version, failed, place)
    JOIN shared_lock l ON l.lock_type = w.lock_type AND l.source_id = w.source_id
   WHERE l.owner = w.owner AND l.version = w.version
     FOR NO KEY UPDATE OF l SKIP LOCKED)
UPDATE shared_lock l
   SET owner = NULL, holder = NULL, acquired_at = NULL, expires_at = 'epoch',
       version = greatest(l.version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint),
       failure_count = l.failure_count + k.failed::integer
  FROM k
 WHERE l.ctid = k.row_id
RETURNING k.place, l.version,
          CASE WHEN l.waiting_until > clock_timestamp()
               THEN pg_notify('rowlock_' || 'shared_lock'::regclass::oid,
                              l.lock_type || ' ' || l.source_id) END AS announced
)sql";

// Reads what is committed. Arrays: $1 types, $2 ids. Missing rows have no answer.
constexpr std::string_view look = R"sql(
SELECT w.place, l.version, l.owner, l.holder,
       to_char(l.acquired_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') AS acquired_at,
       (extract(epoch FROM l.expires_at - clock_timestamp()) * 1000000)::bigint AS remaining_us,
       l.failure_count, l.expiry_count,
       l.waiting_until > clock_timestamp() + interval '5 seconds' AS will_be_announced
  FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS w (lock_type, source_id, place)
  JOIN shared_lock l ON l.lock_type = w.lock_type AND l.source_id = w.source_id
)sql";

// Leaves word that somebody waits. Arrays: $1 types, $2 ids, $3 versions as they were seen: the
// release that ends such a version comes after this on the same row, and so cannot overlook it.
constexpr std::string_view leave_word = R"sql(
WITH k AS MATERIALIZED (
  SELECT l.ctid AS row_id
    FROM unnest($1::text[], $2::text[], $3::bigint[]) AS w (lock_type, source_id, version)
    JOIN shared_lock l ON l.lock_type = w.lock_type AND l.source_id = w.source_id
   WHERE l.version = w.version AND l.owner IS NOT NULL
     FOR NO KEY UPDATE OF l SKIP LOCKED)
UPDATE shared_lock l
   SET waiting_until = clock_timestamp() + interval '10 seconds'
  FROM k
 WHERE l.ctid = k.row_id
)sql";

// The channel on which the releases of this table are announced: `type id`.
constexpr std::string_view announcement_channel =
    "SELECT 'rowlock_' || 'shared_lock'::regclass::oid AS channel";

// Makes rows fit to be committed against: unsets leases that ran out, creates missing rows. Arrays:
// $1 types, $2 ids. Answers the rows it changed; those it could not get at without waiting stay.
constexpr std::string_view prepare = R"sql(
WITH w AS MATERIALIZED (
  SELECT DISTINCT lock_type COLLATE "C" AS lock_type, source_id COLLATE "C" AS source_id
    FROM unnest($1::text[], $2::text[]) AS u (lock_type, source_id)),
run_out AS MATERIALIZED (
  SELECT l.ctid AS row_id
    FROM w
    JOIN shared_lock l ON l.lock_type = w.lock_type AND l.source_id = w.source_id
   WHERE l.owner IS NOT NULL AND l.expires_at <= clock_timestamp()
     FOR NO KEY UPDATE OF l SKIP LOCKED),
unset AS (
  UPDATE shared_lock l
     SET owner = NULL, holder = NULL, acquired_at = NULL, expires_at = 'epoch',
         version = greatest(l.version + 1,
                            (extract(epoch FROM clock_timestamp()) * 1000000)::bigint),
         expiry_count = l.expiry_count + 1
    FROM run_out r
   WHERE l.ctid = r.row_id
  RETURNING l.lock_type, l.source_id, l.version),
missing AS MATERIALIZED (
  SELECT w.lock_type, w.source_id
    FROM w
   WHERE NOT EXISTS (SELECT FROM shared_lock l
                      WHERE l.lock_type = w.lock_type AND l.source_id = w.source_id)),
inserted AS (
  INSERT INTO shared_lock (lock_type, source_id, version)
  SELECT m.lock_type, m.source_id, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
    FROM missing m
   WHERE pg_try_advisory_xact_lock(hashtextextended(
           m.source_id, hashtextextended(m.lock_type, 'shared_lock'::regclass::bigint)))
  ON CONFLICT DO NOTHING
  RETURNING lock_type, source_id, version)
SELECT lock_type, source_id, version FROM unset
UNION ALL
SELECT lock_type, source_id, version FROM inserted
)sql";

// All owned rows, by key.
constexpr std::string_view list = R"sql(
SELECT lock_type, source_id, version, owner, holder,
       to_char(acquired_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') AS acquired_at,
       (extract(epoch FROM expires_at - clock_timestamp()) * 1000000)::bigint AS remaining_us,
       failure_count, expiry_count
  FROM shared_lock
 WHERE owner IS NOT NULL
 ORDER BY lock_type, source_id
)sql";

}  // namespace

postgres_statements::postgres_statements(const table_name& table)
    : postgres_transaction_statements{table},
      pin_session{table.in(sql::pin_session)},
      schema_exists{table.in(sql::schema_exists)},
      schema_version{table.in(sql::schema_version)},
      take_migration_turn{table.in(sql::take_migration_turn)},
      read_committed{table.in(sql::read_committed)},
      weak_settings{table.in(sql::weak_settings)},
      acquire{table.in(sql::acquire)},
      acquire_many{table.in(sql::acquire_many)},
      insert_many{table.in(sql::insert_many)},
      renew{table.in(sql::renew)},
      renew_many{table.in(sql::renew_many)},
      release{table.in(sql::release)},
      release_many{table.in(sql::release_many)},
      leave_word{table.in(sql::leave_word)},
      announcement_channel{table.in(sql::announcement_channel)},
      look{table.in(sql::look)},
      list{table.in(sql::list)},
      prepare{table.in(sql::prepare)} {}

}  // namespace rowlock::sql
