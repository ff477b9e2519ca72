// SQL that grants several keys as one set, on PostgreSQL. What leases.hpp says of its statements
// holds for these.
#ifndef ROWLOCK_POSTGRES_SQL_SETS_HPP
#define ROWLOCK_POSTGRES_SQL_SETS_HPP

#include <string_view>

namespace rowlock::postgres::sql {

// Part of the statements for sets: the requests as rows.
// Arrays: $1 types, $2 ids; $3 owners, $4 holders, $5 ttls in microseconds, $7 whether to refuse a
// row that is marked done and $8 correlation ids or empty texts, each with one value for all keys
// or one per key; $6 expected versions, or none
// Each array is wrapped in a subquery, so that no plan expects so many keys that it would read the
// whole table.
inline constexpr std::string_view requested = R"sql(
  SELECT u.lock_type, u.source_id, u.place, u.expected,
         coalesce(u.owner, ($3::text[])[1]) AS owner,
         coalesce(u.holder, ($4::text[])[1]) AS holder,
         coalesce(u.ttl, ($5::bigint[])[1]) AS ttl,
         coalesce(u.unless_done, ($7::boolean[])[1]) AS unless_done,
         coalesce(u.correlation_id, ($8::text[])[1]) AS correlation_id
    FROM unnest((SELECT $1::text[]), (SELECT $2::text[]), (SELECT $3::text[]),
                (SELECT $4::text[]), (SELECT $5::bigint[]), (SELECT $6::bigint[]),
                (SELECT $7::boolean[]), (SELECT $8::text[]))
         WITH ORDINALITY AS u (lock_type, source_id, owner, holder, ttl, expected, unless_done,
                               correlation_id, place))sql";

// Whether the row was already granted to the same attempt.
inline constexpr std::string_view is_mine =
    "l.owner = w.owner AND l.expires_at > clock_timestamp()";

// Whether the row can be granted: its lease or closing is over, and its version and done mark allow
// it.
inline constexpr std::string_view is_free = R"sql(l.expires_at <= {long_ago}
          AND (w.expected IS NULL OR (l.version = w.expected AND l.owner IS NULL))
          AND (NOT w.unless_done OR l.done_until <= clock_timestamp()))sql";

// The rows to be granted, with the new lease and the last one.
inline constexpr std::string_view taken_rows = R"sql(
  SELECT {row}, w.place, w.owner, w.holder, w.ttl, w.correlation_id,
         coalesce({is_mine}, false) AS is_mine,
         l.owner AS last_owner, l.holder AS last_holder, greatest('epoch', l.expires_at) AS ran_out_at)sql";

// Grants the rows in k. A row that is granted once more keeps its version.
inline constexpr std::string_view grant = R"sql(
  UPDATE shared_lock l
     SET owner = k.owner, holder = k.holder,
         acquired_at = CASE WHEN k.is_mine THEN l.acquired_at ELSE clock_timestamp() END,
         version = CASE WHEN k.is_mine THEN l.version
                        ELSE {next_version}
                    END,
         expires_at = clock_timestamp() + k.ttl * interval '1 microsecond',
         ttl_us = k.ttl, correlation_id = nullif(k.correlation_id, ''),
         expiry_count = l.expiry_count + (l.owner IS NOT NULL AND l.owner <> k.owner)::integer
    FROM k
   WHERE {same_row})sql";

// What a grant returns: the last holder and the time left (negative) if an expired lease was taken
// over. Grants of sets are not announced.
inline constexpr std::string_view granted = R"sql(
  RETURNING k.place, l.version, k.last_holder,
            CASE WHEN k.last_owner <> k.owner
                 THEN (extract(epoch FROM k.ran_out_at - clock_timestamp()) * 1000000)::bigint
             END AS left_of_last_us, false AS is_watched)sql";

// Grants all rows of a set, or none. Parameters as in `requested`.
// Unfit rows are found before any row is locked, so refusing such a set takes no locks. A row that
// another transaction has locked, or has changed since, is noticed only after the others are
// locked. A row is returned without a version if it could be granted but others could not.
inline constexpr std::string_view acquire_all = R"sql(
WITH fit AS MATERIALIZED (
  SELECT {seen_row}, w.*
    FROM ({requested}) w
    JOIN shared_lock l ON l.lock_type = w.lock_type AND l.source_id = w.source_id
   WHERE ({is_mine})
      OR ({is_free})),
k AS MATERIALIZED ({taken_rows}
    FROM fit w
    JOIN shared_lock l ON {as_seen}
   WHERE (SELECT count(*) FROM fit) = cardinality($1::text[])
     AND (({is_mine})
      OR ({is_free}))
     FOR NO KEY UPDATE OF l SKIP LOCKED),
granted AS ({grant}
     AND (SELECT count(*) FROM k) = cardinality($1::text[]){granted})
SELECT place, version, last_holder, left_of_last_us
  FROM granted, (SELECT count(*) AS n FROM granted) AS g
 WHERE {all_or_none} > 0
UNION ALL
SELECT place, NULL, NULL, NULL
  FROM k
 WHERE NOT EXISTS (SELECT FROM granted)
)sql";

// Grants some rows of a set, $9 at most; other parameters as in `requested`. First those that the
// same attempt has already, then free ones, in their order. Rows are locked one by one until there
// are enough. One that was changed since it was seen is not among them.
inline constexpr std::string_view acquire_any = R"sql(
WITH fit AS MATERIALIZED (
  SELECT {seen_row}, l.expires_at <= clock_timestamp() AS is_over, w.*
    FROM ({requested}) w
    JOIN shared_lock l ON l.lock_type = w.lock_type AND l.source_id = w.source_id
   WHERE ({is_mine})
      OR ({is_free})),
k AS MATERIALIZED ({taken_rows}
    FROM fit w
    JOIN shared_lock l ON {as_seen}
   WHERE ({is_mine})
      OR ({is_free})
   ORDER BY w.is_over, w.place
   LIMIT $9::bigint
     FOR NO KEY UPDATE OF l SKIP LOCKED){grant}{granted}
)sql";

}  // namespace rowlock::postgres::sql

#endif
