// The text of the statements for PostgreSQL that grant sets of rows.
//
// What postgres_statements.hpp says of all of them holds for these too.
#include "postgres/sql/set_statements.hpp"

#include <string_view>

#include "postgres/sql/spelling.hpp"

namespace rowlock::sql {

namespace {

// Arrays: $1 types, $2 ids; $3 owners, $4 holders, $5 ttls in microseconds and $7 whether only
// unless the work is remembered as done: one value in each that holds for all, or as many as there
// are keys; $6 expected versions, or none. Each array hides in a query of its own, so that no plan
// is made for so many keys that it would read the whole table.
constexpr std::string_view asked = R"sql(
  SELECT u.lock_type, u.source_id, u.place, u.expected,
         coalesce(u.owner, ($3::text[])[1]) AS owner,
         coalesce(u.holder, ($4::text[])[1]) AS holder,
         coalesce(u.ttl, ($5::bigint[])[1]) AS ttl,
         coalesce(u.unless_done, ($7::boolean[])[1]) AS unless_done
    FROM unnest((SELECT $1::text[]), (SELECT $2::text[]), (SELECT $3::text[]),
                (SELECT $4::text[]), (SELECT $5::bigint[]), (SELECT $6::bigint[]),
                (SELECT $7::boolean[]))
         WITH ORDINALITY AS u (lock_type, source_id, owner, holder, ttl, expected, unless_done,
                               place))sql";

// Granted to the same attempt before.
constexpr std::string_view is_mine = "l.owner = w.owner AND l.expires_at > clock_timestamp()";

constexpr std::string_view is_free = R"sql(l.expires_at <= {long_ago}
          AND (w.expected IS NULL OR (l.version = w.expected AND l.owner IS NULL))
          AND (NOT w.unless_done OR l.done_until <= clock_timestamp()))sql";

// A row that is to be granted, and what is granted there.
constexpr std::string_view taken = R"sql(
  SELECT {row}, w.place, w.owner, w.holder, w.ttl, coalesce({is_mine}, false) AS is_mine,
         l.owner AS last_owner, l.holder AS last_holder, l.expires_at AS ran_out_at)sql";

// Of the rows in k. One that is granted once more keeps its version.
constexpr std::string_view grant = R"sql(
  UPDATE shared_lock l
     SET owner = k.owner, holder = k.holder,
         acquired_at = CASE WHEN k.is_mine THEN l.acquired_at ELSE clock_timestamp() END,
         version = CASE WHEN k.is_mine THEN l.version
                        ELSE greatest(l.version + 1, {now_us})
                    END,
         expires_at = clock_timestamp() + k.ttl * interval '1 microsecond',
         expiry_count = l.expiry_count + (l.owner IS NOT NULL AND l.owner <> k.owner)::integer
    FROM k
   WHERE {same_row})sql";

constexpr std::string_view granted = R"sql(
  RETURNING k.place, l.version, k.last_holder,
            CASE WHEN k.last_owner <> k.owner
                 THEN (extract(epoch FROM k.ran_out_at - clock_timestamp()) * 1000000)::bigint
             END AS left_of_last_us)sql";

// All or none. What is not fit is seen before anything is locked, so such a set is refused for
// nothing; a row that a transaction has locked is noticed only when the others are locked too.
// Without a version: a row that would have been granted, but others would not.
constexpr std::string_view acquire_all = R"sql(
WITH fit AS MATERIALIZED (
  SELECT l.ctid AS row_id, w.*
    FROM ({asked}) w
    JOIN shared_lock l ON l.lock_type = w.lock_type AND l.source_id = w.source_id
   WHERE ({is_mine})
      OR ({is_free})),
k AS MATERIALIZED ({taken}
    FROM fit w
    JOIN shared_lock l
      ON l.ctid = w.row_id AND l.lock_type = w.lock_type AND l.source_id = w.source_id
   WHERE (SELECT count(*) FROM fit) = cardinality($1::text[])
     AND (({is_mine})
      OR ({is_free}))
     FOR NO KEY UPDATE OF l SKIP LOCKED),
granted AS ({grant}
     AND (SELECT count(*) FROM k) = cardinality($1::text[]){granted})
SELECT place, version, last_holder, left_of_last_us
  FROM granted
UNION ALL
SELECT place, NULL, NULL, NULL
  FROM k
 WHERE NOT EXISTS (SELECT FROM granted)
)sql";

// Some of them, $8 at most: those that the same attempt has already, and then those that are free,
// in their order. Rows are locked one by one until there are enough.
constexpr std::string_view acquire_any = R"sql(
WITH k AS MATERIALIZED ({taken}
    FROM ({asked}) w
    JOIN shared_lock l ON l.lock_type = w.lock_type AND l.source_id = w.source_id
   WHERE ({is_mine})
      OR ({is_free})
   ORDER BY l.expires_at <= clock_timestamp(), w.place
   LIMIT $8::bigint
     FOR NO KEY UPDATE OF l SKIP LOCKED){grant}{granted}
)sql";

std::string set(const postgres_table& table, std::string_view text) {
  std::string sql{text};
  fill(sql, "{asked}", asked);
  fill(sql, "{taken}", taken);
  fill(sql, "{grant}", grant);
  fill(sql, "{granted}", granted);
  fill(sql, "{is_mine}", is_mine);
  fill(sql, "{is_free}", is_free);
  return in_postgres(table, sql);
}

}  // namespace

postgres_set_statements::postgres_set_statements(const postgres_table& table)
    : acquire_all{set(table, sql::acquire_all)}, acquire_any{set(table, sql::acquire_any)} {}

}  // namespace rowlock::sql
