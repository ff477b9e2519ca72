// SQL that reads and purges the history of a SQLite file. See leases.hpp.
#ifndef ROWLOCK_SQLITE_SQL_HISTORY_HPP
#define ROWLOCK_SQLITE_SQL_HISTORY_HPP

#include <string_view>

namespace rowlock::sqlite::sql {

// Which events; `of_key` says of which keys.
// ?1 since and ?2 until, like '2026-01-31 12:00:00.000'; ?3 type, ?4 id, ?5 holder, ?6 what,
// each null: any; ?7 to ?11 time, type, id, version and name of the event after which to go on, or
// nulls; ?12 the most events
inline constexpr std::string_view other_events = R"(
SELECT e.at || '000', e.lock_type, e.source_id, e.what, e.version, e.token, e.holder,
       e.since || '000', e.until || '000',
       CAST(round((julianday(e.until) - julianday(e.since)) * 86400000.0) AS INTEGER) * 1000,
       e.reason, e.correlation_id
  FROM shared_lock_event AS e
 WHERE {of_key} AND (?5 IS NULL OR e.holder = ?5) AND (?6 IS NULL OR e.what = ?6)
   AND e.at >= ?1
   AND e.at <= coalesce(substr(?7, 1, 23), ?2)
   AND (?7 IS NULL
        OR (e.at, e.lock_type, e.source_id, e.version, e.what)
           < (substr(?7, 1, 23), ?8, ?9, ?10, ?11))
 ORDER BY e.at DESC, e.lock_type DESC, e.source_id DESC, e.version DESC, e.what DESC
 LIMIT ?12)";

// The grants of holds that are over, and of those that are not. Parameters as above.
inline constexpr std::string_view grant_events = R"(
SELECT g.since || '000', g.lock_type, g.source_id, 'granted', g.token, g.token, g.holder,
       g.since || '000', NULL, NULL, NULL, g.correlation_id
  FROM (SELECT *
          FROM (SELECT e.since, e.lock_type, e.source_id, e.token, e.holder, e.correlation_id
                  FROM shared_lock_event AS e
                 WHERE {of_key} AND {granted_then}
                 ORDER BY {newest_grants}
                 LIMIT ?12)
        UNION ALL
        SELECT *
          FROM (SELECT e.since, e.lock_type, e.source_id, e.token, e.holder, e.correlation_id
                  FROM (SELECT acquired_at AS since, lock_type, source_id, version AS token, holder,
                               correlation_id
                          FROM shared_lock
                         WHERE owner IS NOT NULL) AS e
                 WHERE {of_key} AND {granted_then}
                 ORDER BY e.since DESC, e.lock_type DESC, e.source_id DESC, e.token DESC
                 LIMIT ?12)) AS g
 ORDER BY g.since DESC, g.lock_type DESC, g.source_id DESC, g.token DESC
 LIMIT ?12)";

inline constexpr std::string_view granted_then = R"((?5 IS NULL OR e.holder = ?5)
   AND (?6 IS NULL OR ?6 = 'granted')
   AND e.since >= ?1
   AND e.since <= coalesce(substr(?7, 1, 23), ?2)
   AND (?7 IS NULL
        OR (e.since, e.lock_type, e.source_id, e.token, 'granted')
           < (substr(?7, 1, 23), ?8, ?9, ?10, ?11)))";

// Holds of one key do not overlap, so their grants are in the order of their ends, which the index
// of the key has.
inline constexpr std::string_view newest_grants_of_one = "e.at DESC, e.number DESC";
inline constexpr std::string_view newest_grants_of_any =
    "e.since DESC, e.lock_type DESC, e.source_id DESC, e.token DESC";

// The key, by the index; or any key, with a part of it perhaps.
inline constexpr std::string_view of_one_key = "e.lock_type = ?3 AND e.source_id = ?4";
inline constexpr std::string_view of_any_key =
    "(?3 IS NULL OR e.lock_type = ?3) AND (?4 IS NULL OR e.source_id = ?4)";

// Shows whether the table takes what the triggers write. Only prepared, or rolled back.
inline constexpr std::string_view try_event = R"(
INSERT INTO shared_lock_event (lock_type, source_id, what, version, token, holder, since, until,
                               reason, correlation_id)
VALUES ('rowlock', 'rowlock', 'released', 1, 1, 'rowlock', '1970-01-01 00:00:00.000',
        '1970-01-01 00:00:00.000', 'rowlock', 'rowlock')
)";

// The same as in the migration, with the schema of the table.
inline constexpr std::string_view drop_triggers =
    "DROP TRIGGER IF EXISTS shared_lock_record; DROP TRIGGER IF EXISTS shared_lock_insert";

// Deletes the oldest events.
// ?1 their least age, like '-30.000 seconds', ?2 how many at most
inline constexpr std::string_view purge_history = R"(
DELETE FROM shared_lock_event
 WHERE number IN (SELECT number
                    FROM shared_lock_event
                   WHERE at < strftime('%Y-%m-%d %H:%M:%f', 'now', ?1)
                   ORDER BY at
                   LIMIT ?2)
)";

}  // namespace rowlock::sqlite::sql

#endif
