// The text of the statements for PostgreSQL that read rows, make them fit to be committed against,
// and leave word in them.
//
// What postgres_statements.hpp says of all of them holds for these too.
#include "postgres/sql/row_statements.hpp"

#include <string_view>

#include "postgres/sql/spelling.hpp"

namespace rowlock::sql {

namespace {

// What is told of a row `l`.
constexpr std::string_view state = R"sql(l.version, l.owner, l.holder,
       to_char(l.acquired_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') AS acquired_at,
       (extract(epoch FROM l.expires_at - clock_timestamp()) * 1000000)::bigint AS remaining_us,
       l.failure_count, l.expiry_count, l.note, l.force_reason, l.done_by,
       to_char(l.done_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') AS done_at,
       (extract(epoch FROM l.done_until - clock_timestamp()) * 1000000)::bigint AS done_left_us)sql";

// Reads what is committed. Arrays: $1 types, $2 ids. Missing rows have no answer.
constexpr std::string_view look = R"sql(
SELECT w.place, {state},
       l.waiting_until > clock_timestamp() + interval '5 seconds' AS will_be_announced
  FROM unnest((SELECT $1::text[]), (SELECT $2::text[]))
       WITH ORDINALITY AS w (lock_type, source_id, place)
  JOIN shared_lock l ON l.lock_type = w.lock_type AND l.source_id = w.source_id
)sql";

// Leaves word that somebody waits. Arrays: $1 types, $2 ids, $3 versions as they were seen: the
// release that ends such a version comes after this on the same row, and so cannot overlook it.
constexpr std::string_view leave_word = R"sql(
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
)sql";

// The channel on which the releases of this table are announced: `type id`; and its grants: `+`,
// how long the lease lasts and how long word of those who wait does, both in microseconds, `type
// id`.
constexpr std::string_view announcement_channel =
    "SELECT 'rowlock_' || 'shared_lock'::regclass::oid AS channel";

// Makes rows fit to be committed against: unsets leases that ran out, creates missing rows. Arrays:
// $1 types, $2 ids. Answers the rows it changed; those it could not get at without waiting stay.
constexpr std::string_view prepare = R"sql(
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
     SET owner = NULL, holder = NULL, acquired_at = NULL, expires_at = 'epoch',
         version = greatest(l.version + 1, {now_us}),
         expiry_count = l.expiry_count + 1
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
   WHERE {gate}
  ON CONFLICT (lock_type, source_id) DO NOTHING
  RETURNING lock_type, source_id, version)
SELECT lock_type, source_id, version FROM unset
UNION ALL
SELECT lock_type, source_id, version FROM inserted
)sql";

// All rows that are owned or stay closed, by key.
constexpr std::string_view list = R"sql(
SELECT l.lock_type, l.source_id, {state}
  FROM shared_lock l
 WHERE l.owner IS NOT NULL OR l.expires_at > clock_timestamp()
 ORDER BY l.lock_type, l.source_id
)sql";

std::string telling(const postgres_table& table, std::string_view text) {
  std::string sql{text};
  fill(sql, "{state}", state);
  return in_postgres(table, sql);
}

}  // namespace

postgres_row_statements::postgres_row_statements(const postgres_table& table)
    : look{telling(table, sql::look)},
      leave_word{in_postgres(table, sql::leave_word)},
      announcement_channel{in_postgres(table, sql::announcement_channel)},
      prepare{in_postgres(table, gated(sql::prepare, "m.lock_type", "m.source_id"))},
      list{telling(table, sql::list)} {}

}  // namespace rowlock::sql
