// SQL on the lock table of a SQLite file, by its plain name: `table_name::in` puts the real one in.
//
// Three expressions return everywhere. 'now' is one moment within a statement, and no statement
// waits between that moment and the write.
//   the time, as text       strftime('%Y-%m-%d %H:%M:%f', 'now')
//   the end of a lease      strftime('%Y-%m-%d %H:%M:%f', 'now', <ttl>), ttl like '+30.000 seconds'
//   the time, as a version  CAST((julianday('now') - 2440587.5) * 86400000.0 AS INTEGER) * 1000
// (unixepoch('subsec') is null before SQLite 3.42.)
#ifndef ROWLOCK_SQLITE_SQL_LEASES_HPP
#define ROWLOCK_SQLITE_SQL_LEASES_HPP

#include <string_view>

namespace rowlock::sqlite::sql {

// ?1 lock_type, ?2 source_id
inline constexpr std::string_view read = R"(
SELECT lock_type, source_id, version, owner, holder, acquired_at || '000',
       CAST(round((julianday(expires_at) - julianday('now')) * 86400000.0) AS INTEGER) * 1000,
       failure_count, expiry_count, note, force_reason, done_by, done_at || '000',
       CAST(round((julianday(done_until) - julianday('now')) * 86400000.0) AS INTEGER) * 1000
  FROM shared_lock
 WHERE lock_type = ?1 AND source_id = ?2
)";

// No parameters; the columns of read_row.
inline constexpr std::string_view list = R"(
SELECT lock_type, source_id, version, owner, holder, acquired_at || '000',
       CAST(round((julianday(expires_at) - julianday('now')) * 86400000.0) AS INTEGER) * 1000,
       failure_count, expiry_count, note, force_reason, done_by, done_at || '000',
       CAST(round((julianday(done_until) - julianday('now')) * 86400000.0) AS INTEGER) * 1000
  FROM shared_lock
 WHERE owner IS NOT NULL OR expires_at > strftime('%Y-%m-%d %H:%M:%f', 'now')
 ORDER BY lock_type, source_id
)";

// ?1 lock_type, ?2 source_id, ?3 owner, ?4 holder, ?5 ttl, ?6 1 unless it is done, else 0
// Grants a row that is missing, free, or this owner's already; then it keeps its version. In SET
// and WHERE, a column is the row's old value, excluded.column what was to be inserted.
inline constexpr std::string_view acquire = R"(
INSERT INTO shared_lock (lock_type, source_id, version, owner, holder, acquired_at, expires_at)
VALUES (?1, ?2,
        CAST((julianday('now') - 2440587.5) * 86400000.0 AS INTEGER) * 1000,
        ?3, ?4,
        strftime('%Y-%m-%d %H:%M:%f', 'now'),
        strftime('%Y-%m-%d %H:%M:%f', 'now', ?5))
ON CONFLICT (lock_type, source_id) DO UPDATE
   SET version      = CASE WHEN owner = ?3 AND expires_at > excluded.acquired_at THEN version
                           ELSE max(version + 1, excluded.version) END,
       acquired_at  = CASE WHEN owner = ?3 AND expires_at > excluded.acquired_at THEN acquired_at
                           ELSE excluded.acquired_at END,
       owner        = excluded.owner,
       holder       = excluded.holder,
       expires_at   = excluded.expires_at,
       expiry_count = expiry_count + (owner IS NOT NULL AND owner <> ?3)
 WHERE (owner = ?3 OR expires_at <= excluded.acquired_at)
   AND (   NOT ?6 OR done_until <= excluded.acquired_at
        OR owner = ?3 AND expires_at > excluded.acquired_at)
RETURNING version
)";

// ?1 lock_type, ?2 source_id, ?3 owner, ?4 holder, ?5 ttl, ?6 1 unless it is done, else 0, ?7 the
// version expected
// Grants a row that is free at that version, or this owner's already. Not one whose lease has run
// out: its late holder may still commit with the version.
inline constexpr std::string_view acquire_at_version = R"(
UPDATE shared_lock
   SET version     = CASE WHEN owner IS NOT NULL THEN version
                          ELSE max(version + 1, CAST((julianday('now') - 2440587.5) * 86400000.0
                                                     AS INTEGER) * 1000) END,
       acquired_at = coalesce(acquired_at, strftime('%Y-%m-%d %H:%M:%f', 'now')),
       owner       = ?3,
       holder      = ?4,
       expires_at  = strftime('%Y-%m-%d %H:%M:%f', 'now', ?5)
 WHERE lock_type = ?1 AND source_id = ?2
   AND (   owner = ?3 AND expires_at > strftime('%Y-%m-%d %H:%M:%f', 'now')
        OR owner IS NULL AND version = ?7
           AND expires_at <= strftime('%Y-%m-%d %H:%M:%f', 'now')
           AND (NOT ?6 OR done_until <= strftime('%Y-%m-%d %H:%M:%f', 'now')))
RETURNING version
)";

// ?1 lock_type, ?2 source_id, ?3 owner, ?4 version, ?5 ttl
inline constexpr std::string_view renew = R"(
UPDATE shared_lock
   SET expires_at = strftime('%Y-%m-%d %H:%M:%f', 'now', ?5)
 WHERE lock_type = ?1 AND source_id = ?2 AND owner = ?3 AND version = ?4
)";

// ?1 lock_type, ?2 source_id, ?3 owner, ?4 version, ?5 1 if the callback failed, else 0, ?6 for how
// long it stays closed, or null, ?7 for how long it is remembered as done, or null
inline constexpr std::string_view release = R"(
UPDATE shared_lock
   SET version       = max(version + 1, CAST((julianday('now') - 2440587.5) * 86400000.0
                                             AS INTEGER) * 1000),
       owner         = NULL,
       holder        = CASE WHEN ?6 IS NOT NULL THEN holder END,
       acquired_at   = NULL,
       expires_at    = coalesce(strftime('%Y-%m-%d %H:%M:%f', 'now', ?6),
                                '1970-01-01 00:00:00.000'),
       failure_count = failure_count + ?5,
       done_by       = CASE WHEN ?7 IS NULL THEN done_by ELSE version END,
       done_at       = CASE WHEN ?7 IS NULL THEN done_at
                            ELSE strftime('%Y-%m-%d %H:%M:%f', 'now') END,
       done_until    = coalesce(strftime('%Y-%m-%d %H:%M:%f', 'now', ?7), done_until)
 WHERE lock_type = ?1 AND source_id = ?2 AND owner = ?3 AND version = ?4
)";

// ?1 lock_type, ?2 source_id, ?3 owner, ?4 version, ?5 note
inline constexpr std::string_view write_note = R"(
UPDATE shared_lock
   SET note = nullif(?5, '')
 WHERE lock_type = ?1 AND source_id = ?2 AND owner = ?3 AND version = ?4
)";

// ?1 lock_type, ?2 source_id
// Makes the row one that nobody owns, unless its lease is live.
inline constexpr std::string_view prepare = R"(
INSERT INTO shared_lock (lock_type, source_id, version)
VALUES (?1, ?2, CAST((julianday('now') - 2440587.5) * 86400000.0 AS INTEGER) * 1000)
ON CONFLICT (lock_type, source_id) DO UPDATE
   SET version      = max(version + 1, excluded.version),
       owner        = NULL,
       holder       = NULL,
       acquired_at  = NULL,
       expires_at   = excluded.expires_at,
       expiry_count = expiry_count + 1
 WHERE owner IS NOT NULL AND expires_at <= strftime('%Y-%m-%d %H:%M:%f', 'now')
)";

// ?1 lock_type, ?2 source_id, ?3 version, ?4 reason
inline constexpr std::string_view force_release = R"(
UPDATE shared_lock
   SET version      = max(version + 1, CAST((julianday('now') - 2440587.5) * 86400000.0
                                            AS INTEGER) * 1000),
       owner        = NULL,
       holder       = NULL,
       acquired_at  = NULL,
       expires_at   = '1970-01-01 00:00:00.000',
       force_reason = ?4
 WHERE lock_type = ?1 AND source_id = ?2 AND version = ?3
   AND (owner IS NOT NULL OR expires_at > strftime('%Y-%m-%d %H:%M:%f', 'now'))
)";

// ?1 lock_type, ?2 source_id to go on after, or empty ones, ?3 age in microseconds, ?4 how many
// rows
// A row type#0 says how many of type#1 and so on there are, so it stays until these are gone. They
// are looked for one by one: a range of the index would go through those of all other ids too.
inline constexpr std::string_view find_idle = R"(
SELECT lock_type, source_id,
       owner IS NULL
       AND expires_at <= strftime('%Y-%m-%d %H:%M:%f', 'now')
       AND done_until <= strftime('%Y-%m-%d %H:%M:%f', 'now')
       AND version < CAST((julianday('now') - 2440587.5) * 86400000.0 AS INTEGER) * 1000 - ?3
       AND NOT (lock_type GLOB '*#0' AND EXISTS (
           SELECT 1
             FROM (WITH RECURSIVE numbers (number) AS (
                     SELECT 1 UNION ALL SELECT number + 1 FROM numbers LIMIT 1000)
                   SELECT number FROM numbers)
            CROSS JOIN shared_lock n
            WHERE n.lock_type = substr(l.lock_type, 1, length(l.lock_type) - 1) || number
              AND n.source_id = l.source_id))
  FROM shared_lock l
 WHERE (lock_type, source_id) > (?1, ?2)
 ORDER BY lock_type, source_id
 LIMIT ?4
)";

// ?1 lock_type, ?2 source_id, ?3 age in microseconds
inline constexpr std::string_view delete_idle = R"(
DELETE FROM shared_lock AS l
 WHERE lock_type = ?1 AND source_id = ?2
   AND owner IS NULL
   AND expires_at <= strftime('%Y-%m-%d %H:%M:%f', 'now')
   AND done_until <= strftime('%Y-%m-%d %H:%M:%f', 'now')
   AND version < CAST((julianday('now') - 2440587.5) * 86400000.0 AS INTEGER) * 1000 - ?3
   AND NOT (lock_type GLOB '*#0' AND EXISTS (
         SELECT 1
           FROM (WITH RECURSIVE numbers (number) AS (
                 SELECT 1 UNION ALL SELECT number + 1 FROM numbers LIMIT 1000)
               SELECT number FROM numbers)
          CROSS JOIN shared_lock n
          WHERE n.lock_type = substr(l.lock_type, 1, length(l.lock_type) - 1) || number
          AND n.source_id = l.source_id))
)";

inline constexpr std::string_view last_migration =
    "SELECT coalesce(max(number), 0) FROM shared_lock_schema";

inline constexpr std::string_view find_table = "SELECT 1 FROM shared_lock LIMIT 0";

// What is left of migrations when the table was dropped by hand.
inline constexpr std::string_view drop_companions = "DROP TABLE shared_lock_schema";

// ?1 the table's name, ?2 its schema, or null for the one in which SQLite finds the name first
inline constexpr std::string_view kind_of_table = R"(
SELECT schema, type, strict AND wr
  FROM pragma_table_list
 WHERE name = ?1 COLLATE NOCASE AND (?2 IS NULL OR schema = ?2)
 ORDER BY CASE schema WHEN 'temp' THEN 0 WHEN 'main' THEN 1 ELSE 2 END
 LIMIT 1
)";

// ?1 the table's name, ?2 its schema
inline constexpr std::string_view primary_key_of_table = R"(
SELECT part.name, part.coll
  FROM pragma_index_list(?1, ?2) AS the_index, pragma_index_xinfo(the_index.name, ?2) AS part
 WHERE the_index.origin = 'pk' AND part.key = 1
 ORDER BY part.seqno
)";

// ?1 the table's name, ?2 its schema
inline constexpr std::string_view columns_of_table =
    R"(SELECT name, type, NOT "notnull" FROM pragma_table_info(?1, ?2))";

}  // namespace rowlock::sqlite::sql

#endif
