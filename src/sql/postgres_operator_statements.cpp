// The text of the statements for PostgreSQL that are there for operators.
//
// What postgres_statements.hpp says of all of them holds for these too.
#include "sql/postgres_operator_statements.hpp"

#include <string_view>

#include "sql/postgres_spelling.hpp"

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
      force_release{in_postgres(table, sql::force_release)},
      purge{in_postgres(table, sql::purge)} {}

}  // namespace rowlock::sql
