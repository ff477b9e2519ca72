// SQL that grants, renews and releases leases, on PostgreSQL.
//
// Common to the statements:
//   - They use clock_timestamp(), not now(): now() stands still in a transaction, so a lease could
//     begin expired.
//   - A new version is greatest(version + 1, microseconds since 1970), from the current row.
//   - The common cases, `acquire_free` and `release`, are a plain UPDATE of a row that no other
//     transaction seems to have ({is_unlocked}). What READ COMMITTED does decides: the statement
//     waits for a transaction that takes the row between the search and the write, as long as
//     lock_timeout allows, and then finds its conditions or none. Where that transaction has not
//     changed the row, it writes what it computed before the wait: times of then.
//   - Every other lease statement locks its rows with SKIP LOCKED, then writes them by ctid and
//     key. It waits for no transaction, and also takes a row whose last lock was not followed by a
//     write. A refused statement writes nothing, not even a transaction id.
//   - Arrays of prepared statements are wrapped in subqueries, so that PostgreSQL estimates any
//     number of keys alike: one plan serves all calls and is kept. Where calls have few keys, a
//     condition on `place` makes it expect one. For ten it would read the whole of a table of a few
//     hundred rows.
//   - An insert of a key finds its gate free, an advisory lock of that key and table, and holds it
//     until its transaction ends. So inserters refuse each other and do not wait. A statement that
//     creates more than 16 keys only looks whether their gates are free, as all gates would not fit
//     into a small server's lock table. An insert that meets such a transaction waits for it, as
//     long as the lock_timeout allows that the statement sets. Inserts are in the order of the
//     keys, so two of them are no deadlock.
//
// A statement for several keys takes arrays. It returns as `place` the index of the request that a
// row answers, counted from 1. A request without a row was refused: `read` shows why. Placeholders
// in braces are explained in spelling.hpp.
#ifndef ROWLOCK_POSTGRES_SQL_LEASES_HPP
#define ROWLOCK_POSTGRES_SQL_LEASES_HPP

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rowlock::postgres::sql {

// Grants a row that is there and free, has no owner and seems unlocked. No row in all other cases:
// `acquire` then grants it or shows its holder. PostgreSQL sets up each expression at each
// execution, so this common case has a statement that does nothing else. If `is_watched`,
// `announce_grants` has to follow: in a statement of its own, so that a lock does not fail because
// a notification cannot be sent (a full queue).
// $1 type, $2 id, $3 owner, $4 holder, $5 ttl in microseconds, $6 correlation id or null
inline constexpr std::string_view acquire_free = R"sql(
UPDATE shared_lock l
   SET owner = $3::text, holder = $4::text, acquired_at = clock_timestamp(),
       version = {next_version},
       expires_at = clock_timestamp() + $5::bigint * interval '1 microsecond',
       ttl_us = $5::bigint, correlation_id = $6::text
 WHERE {at_key} AND owner IS NULL AND expires_at <= {long_ago} AND {is_unlocked}
RETURNING 1 AS place, version, waiting_until > clock_timestamp() AS is_watched
)sql";

// Grants a row that is free. If it is leased or closed, returns its holder and the time left
// (`is_held`), so a refusal takes one round trip. Otherwise `read` shows why an existing row was
// not granted. No row if there is none. If the grant took over another owner's expired lease,
// returns that holder and the time left, which is negative. If `is_watched`, `announce_grants` has
// to follow. RETURNING sees the old row only through k. The row is found by its ctid: joined with
// k, the plan for a small table would read all of it. $1 type, $2 id, $3 owner, $4 holder, $5 ttl
// in microseconds, $6 expected version or null, $7 whether to refuse a row that is marked done, $8
// correlation id or null
inline constexpr std::string_view acquire = R"sql(
WITH k AS MATERIALIZED (
  SELECT ctid AS row_id, owner AS last_owner, holder AS last_holder,
         greatest('epoch', expires_at) AS ran_out_at
    FROM shared_lock
   WHERE {at_key} AND expires_at <= {long_ago}
     AND ($6::bigint IS NULL OR (version = $6::bigint AND owner IS NULL))
     AND (NOT $7::boolean OR done_until <= clock_timestamp())
     FOR NO KEY UPDATE SKIP LOCKED),
taken AS (
  UPDATE shared_lock l
     SET owner = $3::text, holder = $4::text, acquired_at = clock_timestamp(),
         version = {next_version},
         expires_at = clock_timestamp() + $5::bigint * interval '1 microsecond',
         ttl_us = $5::bigint, correlation_id = $8::text,
         expiry_count = expiry_count + (owner IS NOT NULL AND owner <> $3)::integer
   WHERE ctid = (SELECT row_id FROM k) AND lock_type = $1 AND source_id = $2
  RETURNING version, waiting_until > clock_timestamp() AS is_watched)
SELECT true AS is_granted, false AS is_held, version, (SELECT last_holder FROM k) AS holder,
       (SELECT (extract(epoch FROM ran_out_at - clock_timestamp()) * 1000000)::bigint
          FROM k
         WHERE last_owner <> $3) AS left_us, is_watched
  FROM taken
UNION ALL
SELECT false, expires_at > {long_ago} AND owner IS DISTINCT FROM $3 AND $6::bigint IS NULL
                AND (NOT $7::boolean OR done_until <= clock_timestamp()),
       version, holder, {left_us}, false
  FROM shared_lock l
 WHERE {at_key} AND NOT EXISTS (SELECT FROM taken)
)sql";

// Returns what `acquire` returns for a row that is leased or closed. No row in all other cases:
// `acquire` has to follow. Half of its work, as it locks nothing.
// $1 type, $2 id, $3 owner
inline constexpr std::string_view see_holder = R"sql(
SELECT false AS is_granted, true AS is_held, version, holder,
       {left_us} AS left_us, false AS is_watched
  FROM shared_lock l
 WHERE {at_key} AND expires_at > {long_ago} AND owner IS DISTINCT FROM $3
)sql";

// Grants the rows that are free; returns them with the holders of the expired leases that were
// taken over. For those that are watched, `announce_grants` has to follow.
// Arrays: $1 types, $2 ids, $3 owners, $4 holders, $5 ttls in microseconds, $6 expected versions or
// nulls, $7 whether to refuse a row that is marked done, $8 correlation ids, or empty texts
inline constexpr std::string_view acquire_many = R"sql(
WITH k AS MATERIALIZED (
  SELECT {row}, l.owner AS last_owner, l.holder AS last_holder,
         greatest('epoch', l.expires_at) AS ran_out_at,
         w.owner, w.holder, w.ttl, w.correlation_id, w.place
    FROM unnest((SELECT $1::text[]), (SELECT $2::text[]), (SELECT $3::text[]),
                (SELECT $4::text[]), (SELECT $5::bigint[]), (SELECT $6::bigint[]),
                (SELECT $7::boolean[]), (SELECT $8::text[]))
         WITH ORDINALITY AS w (lock_type, source_id, owner, holder, ttl, expected, unless_done,
                               correlation_id, place)
    JOIN shared_lock l ON l.lock_type = w.lock_type AND l.source_id = w.source_id
   WHERE {one_place} AND l.expires_at <= {long_ago}
     AND (w.expected IS NULL OR (l.version = w.expected AND l.owner IS NULL))
     AND (NOT w.unless_done OR l.done_until <= clock_timestamp())
     FOR NO KEY UPDATE OF l SKIP LOCKED)
UPDATE shared_lock l
   SET owner = k.owner, holder = k.holder, acquired_at = clock_timestamp(),
       version = {next_version},
       expires_at = clock_timestamp() + k.ttl * interval '1 microsecond',
       ttl_us = k.ttl, correlation_id = nullif(k.correlation_id, ''),
       expiry_count = l.expiry_count + (l.owner IS NOT NULL AND l.owner <> k.owner)::integer
  FROM k
 WHERE {same_row}
RETURNING k.place, l.version, k.last_holder,
          CASE WHEN k.last_owner <> k.owner
               THEN (extract(epoch FROM k.ran_out_at - clock_timestamp()) * 1000000)::bigint
           END AS left_of_last_us, l.waiting_until > clock_timestamp() AS is_watched
)sql";

// How long an insert waits for a transaction that has created the row: a statement of a store ends
// sooner. The limit ends other waits, too: for another session that makes the table longer.
inline constexpr std::int64_t short_wait_ms = 20;
inline constexpr std::int64_t shortest_wait_ms = 1;

// If one of several keys was in the way, each is tried by itself. Those that cannot be created then
// wait for half a second in all.
constexpr std::int64_t wait_of_each_ms(std::size_t tried_in_vain) {
  return tried_in_vain < 25 ? short_wait_ms : shortest_wait_ms;
}

// Locks the table as an insert does, and changes nothing: it fails where the whole table is locked,
// and not where a row is being created.
inline constexpr std::string_view use_table =
    "UPDATE shared_lock SET fence_count = fence_count WHERE false";

// Creates one missing row with a lease. No row if it exists; then no gate is tried, and ON CONFLICT
// does not wait for a transaction that has changed the row.
// $1 type, $2 id, $3 owner, $4 holder, $5 ttl in microseconds, $6 correlation id or null, $7 how
// many milliseconds to wait for a transaction that has created the row
inline constexpr std::string_view insert = R"sql(
INSERT INTO shared_lock (lock_type, source_id, version, owner, holder, acquired_at, expires_at,
                         ttl_us, correlation_id)
SELECT $1::text, $2::text, {now_us}, $3::text, $4::text, clock_timestamp(),
       clock_timestamp() + $5::bigint * interval '1 microsecond', $5::bigint, $6::text
 WHERE CASE WHEN EXISTS (SELECT FROM shared_lock WHERE lock_type = $1 AND source_id = $2) THEN false
            WHEN {gate_of_parameters}
            THEN set_config('lock_timeout', $7::bigint::text, true) IS NOT NULL END
ON CONFLICT (lock_type, source_id) DO NOTHING
RETURNING 1 AS place, version
)sql";

// Creates missing rows with leases.
// Arrays: $1 types, $2 ids, $3 owners, $4 holders, $5 ttls in microseconds, $6 correlation ids, or
// empty texts; $7 largest number of rows, or null; $8 how long to wait, as above
// With $7 the first requests are chosen, and no other gate is tried. (OFFSET 0 makes every plan
// search each row by the primary key. IS TRUE makes PostgreSQL hash the inserted rows, instead of
// comparing each with all requests.)
inline constexpr std::string_view insert_many = R"sql(
WITH w AS MATERIALIZED (
  SELECT DISTINCT ON (lock_type COLLATE "C", source_id COLLATE "C") *
    FROM unnest((SELECT $1::text[]), (SELECT $2::text[]), (SELECT $3::text[]),
                (SELECT $4::text[]), (SELECT $5::bigint[]), (SELECT $6::text[]))
         WITH ORDINALITY AS u (lock_type, source_id, owner, holder, ttl, correlation_id, place)
   ORDER BY lock_type COLLATE "C", source_id COLLATE "C", place),
missing AS MATERIALIZED (
  SELECT *
    FROM w
   WHERE NOT EXISTS (SELECT FROM shared_lock l
                      WHERE l.lock_type = w.lock_type AND l.source_id = w.source_id
                     OFFSET 0)
   ORDER BY place),
chosen AS MATERIALIZED (
  SELECT *, {now_us} AS version
    FROM missing m
   WHERE {gate_of_m} AND (SELECT set_config('lock_timeout', $8::bigint::text, true)) IS NOT NULL
   LIMIT $7::bigint),
inserted AS (
  INSERT INTO shared_lock (lock_type, source_id, version, owner, holder, acquired_at, expires_at,
                           ttl_us, correlation_id)
  SELECT c.lock_type, c.source_id, c.version,
         c.owner, c.holder, clock_timestamp(),
         clock_timestamp() + c.ttl * interval '1 microsecond', c.ttl, nullif(c.correlation_id, '')
    FROM chosen c
   ORDER BY c.lock_type COLLATE "C", c.source_id COLLATE "C"
  ON CONFLICT (lock_type, source_id) DO NOTHING
  RETURNING lock_type, source_id)
SELECT c.place, c.version
  FROM chosen c
 WHERE ((c.lock_type, c.source_id) IN (SELECT lock_type, source_id FROM inserted)) IS TRUE
)sql";

// Renews one lease: it ends one ttl from now. No row if the lease is lost or the row is locked.
// $1 type, $2 id, $3 owner, $4 version, $5 ttl in microseconds
inline constexpr std::string_view renew = R"sql(
UPDATE shared_lock l
   SET expires_at = clock_timestamp() + $5::bigint * interval '1 microsecond',
       ttl_us = $5::bigint
 WHERE {unlocked_lease}
RETURNING 1 AS place, version
)sql";

// Renews many leases, as `renew`. The subquery is not a WITH, which would store ten thousand rows
// in between.
// Arrays: $1 types, $2 ids, $3 owners, $4 versions, $5 ttls in microseconds
inline constexpr std::string_view renew_many = R"sql(
UPDATE shared_lock l
   SET expires_at = (SELECT clock_timestamp()) + k.ttl * interval '1 microsecond', ttl_us = k.ttl
  FROM (SELECT {row}, w.ttl, w.place
          FROM unnest((SELECT $1::text[]), (SELECT $2::text[]), (SELECT $3::text[]),
                      (SELECT $4::bigint[]), (SELECT $5::bigint[]))
               WITH ORDINALITY AS w (lock_type, source_id, owner, version, ttl, place)
          JOIN shared_lock l ON l.lock_type = w.lock_type AND l.source_id = w.source_id
         WHERE l.owner = w.owner AND l.version = w.version
           FOR NO KEY UPDATE OF l SKIP LOCKED) k
 WHERE {same_row}
RETURNING k.place, l.version
)sql";

// Releases one lease after a success: the row is free. No row if the lease is lost or the row seems
// locked: `release_and_mark` then releases it, unless it is. If `is_watched`, `announce` has to
// follow.
// $1 type, $2 id, $3 owner, $4 version, $5 whether the commit waits for the disk
inline constexpr std::string_view release = R"sql(
UPDATE shared_lock l
   SET owner = NULL, expires_at = 'epoch', version = {next_version},
       ended_at = clock_timestamp(), ended_as = 'released'
 WHERE {at_key} AND owner = $3 AND version = $4::bigint AND {is_unlocked}
RETURNING 1 AS place, version, waiting_until > clock_timestamp() AS is_watched,
          CASE WHEN NOT $5::boolean
               THEN set_config('synchronous_commit', 'off', true) END AS committed
)sql";

// Notifies waiters of releases, unless the row has changed since. In a transaction of its own, so
// the release does not wait for the lock that commits with notifications share, nor fail with it.
// Arrays: $1 types, $2 ids, $3 versions
inline constexpr std::string_view announce = "SELECT {announcement} AS announced{unchanged_rows}";

// The same of grants.
inline constexpr std::string_view announce_grants = "SELECT {taking} AS announced{unchanged_rows}";

// Releases one lease after a failure, or so that the row stays closed or is marked as done, and
// where `release` found none. No row if the lease is lost or the row is locked. If `is_watched`,
// `announce` has to follow. $1 to $4 as above, $5 whether the callback failed, $6 how
// long the row stays closed in microseconds, $7 how long the work is remembered as done in
// microseconds, or null, $8 whether the commit waits for the disk
inline constexpr std::string_view release_and_mark = R"sql(
UPDATE shared_lock l
   SET {as_released}
  FROM (SELECT $5::boolean AS failed, $6::bigint AS stay_closed, $7::bigint AS done_for) k
 WHERE {unlocked_lease}
RETURNING 1 AS place, l.version, l.waiting_until > clock_timestamp() AS is_watched,
          CASE WHEN NOT $8::boolean
               THEN set_config('synchronous_commit', 'off', true) END AS committed
)sql";

// Releases many leases, as `release`.
// Arrays: $1 types, $2 ids, $3 owners, $4 versions, $5 whether the callbacks failed, $6 how long
// the rows stay closed, $7 how long the work is remembered as done or null, in microseconds. $8
// whether the commit waits for the disk, one value
inline constexpr std::string_view release_many = R"sql(
WITH k AS MATERIALIZED (
  SELECT {row}, w.failed, w.stay_closed, w.done_for, w.place
    FROM unnest((SELECT $1::text[]), (SELECT $2::text[]), (SELECT $3::text[]),
                (SELECT $4::bigint[]), (SELECT $5::boolean[]), (SELECT $6::bigint[]),
                (SELECT $7::bigint[]))
         WITH ORDINALITY AS w (lock_type, source_id, owner, version, failed, stay_closed, done_for,
                               place)
    JOIN shared_lock l ON l.lock_type = w.lock_type AND l.source_id = w.source_id
   WHERE {one_place} AND l.owner = w.owner AND l.version = w.version
     FOR NO KEY UPDATE OF l SKIP LOCKED)
UPDATE shared_lock l
   SET {as_released}
  FROM k
 WHERE {same_row}
RETURNING k.place, l.version, l.waiting_until > clock_timestamp() AS is_watched,
          CASE WHEN NOT $8::boolean
               THEN (SELECT set_config('synchronous_commit', 'off', true)) END AS committed
)sql";

// Releases one lease and grants the row to the next owner, in one write: no other owner can get the
// row in between. No row if the lease is lost or the row is locked.
// $1 type, $2 id, $3 owner, $4 version, $5 whether the callback failed, $6 next owner, $7 next
// holder, $8 ttl in microseconds, $9 correlation id or null
inline constexpr std::string_view handoff = R"sql(
UPDATE shared_lock l
   SET owner = $6::text, holder = $7::text, acquired_at = clock_timestamp(),
       version = {next_version},
       expires_at = clock_timestamp() + $8::bigint * interval '1 microsecond',
       ttl_us = $8::bigint, correlation_id = $9::text,
       failure_count = failure_count + $5::boolean::integer
 WHERE {unlocked_lease}
RETURNING 1 AS place, version
)sql";

}  // namespace rowlock::postgres::sql

#endif
