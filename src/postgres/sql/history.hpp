// SQL that reads and purges the history, on PostgreSQL. See leases.hpp.
#ifndef ROWLOCK_POSTGRES_SQL_HISTORY_HPP
#define ROWLOCK_POSTGRES_SQL_HISTORY_HPP

#include <string_view>

namespace rowlock::postgres::sql {

// The columns of an event, and which events.
// $1 since and $2 until, in microseconds since 1970, $3 type, $4 id, $5 holder, $6 what, each null:
// any; $7 to $11 time, type, id, version and name of the event after which to go on, or what is
// behind every event; $12 the most events. No condition on a time is part of an OR or may be null:
// also a plan for any values then uses the index.
inline constexpr std::string_view other_events = R"sql(
SELECT to_char(e.at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') AS shown_at, e.lock_type,
       e.source_id, e.what, e.version, e.token, e.holder,
       to_char(e.since AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') AS since,
       to_char(e.until AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') AS until,
       (extract(epoch FROM e.until - e.since) * 1000000)::bigint AS held_us,
       e.reason, e.correlation_id
  FROM shared_lock_event e
 WHERE {of_key} AND {others_then}
 ORDER BY e.at DESC, e.lock_type DESC, e.source_id DESC, e.version DESC, e.what COLLATE "C" DESC
 LIMIT $12::bigint)sql";

inline constexpr std::string_view others_then = R"sql(($5::text IS NULL OR e.holder = $5::text)
   AND ($6::text IS NULL OR e.what = $6::text)
   AND e.at >= timestamptz 'epoch' + $1::bigint * interval '1 microsecond'
   AND e.at <= least(timestamptz 'epoch' + $2::bigint * interval '1 microsecond',
                     $7::timestamp AT TIME ZONE 'UTC')
   AND (e.at, e.lock_type, e.source_id, e.version, e.what COLLATE "C")
       < ($7::timestamp AT TIME ZONE 'UTC', $8::text, $9::text, $10::bigint, $11::text))sql";

// With a plan for any values the server would sort all events of the request: it expects few of
// them. So the time of the last event of the page is found first, in the order of an index alone,
// and the page is read from there on. No row: there are fewer events. Parameters as above, but $12
// is how many events to leave out.
inline constexpr std::string_view last_of_others = R"sql(
SELECT (extract(epoch FROM e.at) * 1000000)::bigint AS us
  FROM shared_lock_event e
 WHERE {of_key} AND {others_then}
 ORDER BY e.at DESC
OFFSET $12::bigint LIMIT 1)sql";
inline constexpr std::string_view last_of_grants = R"sql(
SELECT (extract(epoch FROM e.since) * 1000000)::bigint AS us
  FROM shared_lock_event e
 WHERE {of_key} AND {granted_then}
 ORDER BY {newest_grants} DESC
OFFSET $12::bigint LIMIT 1)sql";
// Holds of one key do not overlap, so their grants are in the order of their ends, which the index
// of the key has.
inline constexpr std::string_view newest_grants_of_one = "e.at";
inline constexpr std::string_view newest_grants_of_any = "e.since";

// The grants: of holds that are over, and of those that are not. Parameters as above.
inline constexpr std::string_view grant_events = R"sql(
SELECT to_char(g.since AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') AS shown_at, g.lock_type,
       g.source_id, 'granted' AS what, g.token AS version, g.token, g.holder,
       to_char(g.since AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') AS since,
       NULL AS until, NULL AS held_us, NULL AS reason, g.correlation_id
  FROM ((SELECT e.since, e.lock_type, e.source_id, e.token, e.holder, e.correlation_id
           FROM shared_lock_event e
          WHERE {of_key} AND {granted_then}
          ORDER BY e.since DESC, e.lock_type DESC, e.source_id DESC, e.token DESC
          LIMIT $12::bigint)
        UNION ALL
        (SELECT e.since, e.lock_type, e.source_id, e.token, e.holder, e.correlation_id
           FROM (SELECT acquired_at AS since, lock_type::text, source_id::text,
                        version::bigint AS token, holder::text, correlation_id
                   FROM shared_lock
                  WHERE owner IS NOT NULL) e
          WHERE {of_key} AND {granted_then}
          ORDER BY e.since DESC, e.lock_type DESC, e.source_id DESC, e.token DESC
          LIMIT $12::bigint)) g
 ORDER BY g.since DESC, g.lock_type DESC, g.source_id DESC, g.token DESC
 LIMIT $12::bigint)sql";

inline constexpr std::string_view granted_then = R"sql(($5::text IS NULL OR e.holder = $5::text)
   AND ($6::text IS NULL OR $6::text = 'granted')
   AND e.since >= timestamptz 'epoch' + $1::bigint * interval '1 microsecond'
   AND e.since <= least(timestamptz 'epoch' + $2::bigint * interval '1 microsecond',
                        $7::timestamp AT TIME ZONE 'UTC')
   AND (e.since, e.lock_type COLLATE "C", e.source_id COLLATE "C", e.token, 'granted' COLLATE "C")
       < ($7::timestamp AT TIME ZONE 'UTC', $8::text, $9::text, $10::bigint, $11::text))sql";

// The key, by the index; or any key, with a part of it perhaps.
inline constexpr std::string_view of_one_key = "e.lock_type = $3::text AND e.source_id = $4::text";
inline constexpr std::string_view of_any_key =
    "($3::text IS NULL OR e.lock_type = $3::text) AND ($4::text IS NULL OR e.source_id = $4::text)";

// Shows whether the table takes what the trigger writes; rolled back.
inline constexpr std::string_view try_event = R"sql(
SAVEPOINT rowlock;
INSERT INTO shared_lock_event (lock_type, source_id, what, version, token, holder, since, until,
                               reason, correlation_id)
VALUES ('rowlock', 'rowlock', 'released', 1, 1, 'rowlock', 'epoch', 'epoch', 'rowlock', 'rowlock');
ROLLBACK TO SAVEPOINT rowlock
)sql";

// Deletes the oldest events.
// $1 their least age in microseconds, $2 how many at most
inline constexpr std::string_view purge_history = R"sql(
WITH k AS MATERIALIZED (
  SELECT ctid AS row_id, lock_type, source_id
    FROM shared_lock_event
   WHERE at < statement_timestamp() - $1::bigint * interval '1 microsecond'
   ORDER BY at
   LIMIT $2::bigint),
purged AS (
  DELETE FROM shared_lock_event e
   USING k
   WHERE e.ctid = k.row_id AND e.lock_type = k.lock_type AND e.source_id = k.source_id
  RETURNING 1)
SELECT count(*) AS purged FROM purged
)sql";

}  // namespace rowlock::postgres::sql

#endif
