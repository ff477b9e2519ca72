// SQL that reads and purges the history, on MariaDB and MySQL. See leases.hpp.
#ifndef ROWLOCK_MYSQL_SQL_HISTORY_HPP
#define ROWLOCK_MYSQL_SQL_HISTORY_HPP

#include <string_view>

namespace rowlock::mysql::sql {

// Which events; `of_key` says of which keys.
// $1 since and $2 until, in microseconds since 1970, $3 type, $4 id, $5 holder, $6 what, each null:
// any; $7 to $11 time, type, id, version and name of the event after which to go on, or nulls; $12
// the most events
inline constexpr std::string_view other_events = R"sql(
SELECT date_format(e.at, '%Y-%m-%d %H:%i:%s.%f') AS shown_at, e.lock_type, e.source_id, e.what,
       e.version, e.token, CAST(e.holder AS BINARY) AS holder,
       date_format(e.since, '%Y-%m-%d %H:%i:%s.%f') AS since,
       date_format(e.until, '%Y-%m-%d %H:%i:%s.%f') AS until,
       timestampdiff(MICROSECOND, e.since, e.until) AS held_us,
       CAST(e.reason AS BINARY) AS reason, CAST(e.correlation_id AS BINARY) AS correlation_id
  FROM shared_lock_event AS e
 WHERE {of_key} AND {others_then}
 ORDER BY e.at DESC, e.lock_type DESC, e.source_id DESC, e.version DESC, e.what DESC
 LIMIT $12)sql";

inline constexpr std::string_view others_then = R"sql(
       ($5 IS NULL OR CAST(e.holder AS BINARY) = CAST($5 AS BINARY))
   AND ($6 IS NULL OR e.what = CAST($6 AS CHAR(12) CHARACTER SET ascii))
   AND e.at >= TIMESTAMP '1970-01-01 00:00:00' + INTERVAL $1 MICROSECOND
   AND e.at <= coalesce(CAST($7 AS DATETIME(6)),
                     TIMESTAMP '1970-01-01 00:00:00' + INTERVAL $2 MICROSECOND)
   AND ($7 IS NULL
        OR (e.at, CAST(e.lock_type AS BINARY), e.source_id, e.version, CAST(e.what AS BINARY))
           < (CAST($7 AS DATETIME(6)), CAST($8 AS BINARY), CAST($9 AS BINARY), $10,
              CAST($11 AS BINARY))))sql";

// The server would sort all events of the request: it uses an index only for an order by that index
// alone. So the time of the last event of the page is found first, and the page is read from there
// on. No row: there are fewer events. Parameters as above, but $12 is how many events to leave out.
inline constexpr std::string_view last_of_others = R"sql(
SELECT timestampdiff(MICROSECOND, '1970-01-01', e.at)
  FROM shared_lock_event AS e
 WHERE {of_key} AND {others_then}
 ORDER BY e.at DESC
 LIMIT $12, 1)sql";
inline constexpr std::string_view last_of_grants = R"sql(
SELECT timestampdiff(MICROSECOND, '1970-01-01', e.since)
  FROM shared_lock_event AS e
 WHERE {of_key} AND {granted_then}
 ORDER BY {newest_grants} DESC
 LIMIT $12, 1)sql";
// Holds of one key do not overlap, so their grants are in the order of their ends, which the index
// of the key has.
inline constexpr std::string_view newest_grants_of_one = "e.at";
inline constexpr std::string_view newest_grants_of_any = "e.since";

// The grants of holds that are over, and of those that are not. Parameters as above.
inline constexpr std::string_view grant_events = R"sql(
SELECT date_format(g.since, '%Y-%m-%d %H:%i:%s.%f') AS shown_at, g.lock_type, g.source_id,
       'granted' AS what, g.token AS version, g.token, CAST(g.holder AS BINARY) AS holder,
       date_format(g.since, '%Y-%m-%d %H:%i:%s.%f') AS since, NULL AS until, NULL AS held_us,
       NULL AS reason, CAST(g.correlation_id AS BINARY) AS correlation_id
  FROM ((SELECT e.since, e.lock_type, e.source_id, e.token, e.holder, e.correlation_id
           FROM shared_lock_event AS e
          WHERE {of_key} AND {granted_then}
          ORDER BY e.since DESC, e.lock_type DESC, e.source_id DESC, e.token DESC
          LIMIT $12)
        UNION ALL
        (SELECT e.since, e.lock_type, e.source_id, e.token, e.holder, e.correlation_id
           FROM (SELECT acquired_at AS since, lock_type, source_id, version AS token, holder,
                        correlation_id
                   FROM shared_lock
                  WHERE owner IS NOT NULL) AS e
          WHERE {of_key} AND {granted_then}
          ORDER BY e.since DESC, e.lock_type DESC, e.source_id DESC, e.token DESC
          LIMIT $12)) AS g
 ORDER BY g.since DESC, g.lock_type DESC, g.source_id DESC, g.token DESC
 LIMIT $12)sql";

inline constexpr std::string_view granted_then = R"sql(
       ($5 IS NULL OR CAST(e.holder AS BINARY) = CAST($5 AS BINARY))
   AND ($6 IS NULL OR $6 = 'granted')
   AND e.since >= TIMESTAMP '1970-01-01 00:00:00' + INTERVAL $1 MICROSECOND
   AND e.since <= coalesce(CAST($7 AS DATETIME(6)),
                     TIMESTAMP '1970-01-01 00:00:00' + INTERVAL $2 MICROSECOND)
   AND ($7 IS NULL
        OR (e.since, CAST(e.lock_type AS BINARY), e.source_id, e.token, CAST('granted' AS BINARY))
           < (CAST($7 AS DATETIME(6)), CAST($8 AS BINARY), CAST($9 AS BINARY), $10,
              CAST($11 AS BINARY))))sql";

// The key, by the index; or any key, with a part of it perhaps.
inline constexpr std::string_view of_one_key = "e.lock_type = $3 AND e.source_id = $4";
inline constexpr std::string_view of_any_key =
    "($3 IS NULL OR e.lock_type = $3) AND ($4 IS NULL OR e.source_id = $4)";

// Whether there is an event. Fails where there is no table.
inline constexpr std::string_view some_event = "SELECT 1 FROM shared_lock_event LIMIT 1";

// Shows whether the table takes what the triggers write; rolled back.
inline constexpr std::string_view try_event = R"sql(
INSERT INTO shared_lock_event (at, lock_type, source_id, what, version, token, holder, since, until,
                               reason, correlation_id)
VALUES ('1970-01-01 00:00:00', 'rowlock', 'rowlock', 'released', 1, 1, 'rowlock', '1970-01-01 00:00:00',
        '1970-01-01 00:00:00', 'rowlock', 'rowlock')
)sql";

// Deletes the oldest events.
// $1 their least age in microseconds, $2 how many at most
inline constexpr std::string_view purge_history = R"sql(
DELETE FROM shared_lock_event
 WHERE at < utc_timestamp(6) - INTERVAL $1 MICROSECOND
 ORDER BY at
 LIMIT $2
)sql";

}  // namespace rowlock::mysql::sql

#endif
