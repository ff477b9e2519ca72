// The text of the statements for several rows at once, each on its own, on MariaDB and MySQL.
//
// What mysql_statements.cpp says of all of them holds for these too.
#include "mysql/sql/many_statements.hpp"

#include "mysql/sql/spelling.hpp"

namespace rowlock::sql {

namespace {

// Rows at the versions that were seen, if they are free, and were $2 microseconds ago. The time is
// the insert id. $1: type, id, version, owner, holder, ttl in microseconds
constexpr std::string_view take_many = R"sql(
UPDATE json_table($1, '$[*]' COLUMNS (
         lock_type varchar(134) CHARACTER SET ascii PATH '$[0]',
         source_id varchar(510) CHARACTER SET ascii PATH '$[1]',
         version bigint PATH '$[2]',
         owner varchar(64) CHARACTER SET ascii PATH '$[3]',
         holder varchar(256) CHARACTER SET ascii PATH '$[4]',
         ttl bigint PATH '$[5]')) AS w
  STRAIGHT_JOIN shared_lock AS l FORCE INDEX (PRIMARY)
    ON l.lock_type = w.lock_type AND l.source_id = unhex(w.source_id)
   SET l.expiry_count = l.expiry_count + (l.owner IS NOT NULL AND l.owner <> unhex(w.owner)),
       l.version = greatest(
         l.version + 1,
         last_insert_id(timestampdiff(MICROSECOND, '1970-01-01', utc_timestamp(6)))),
       l.owner = unhex(w.owner), l.holder = CONVERT(unhex(w.holder) USING utf8mb4),
       l.acquired_at = utc_timestamp(6),
       l.expires_at = utc_timestamp(6) + INTERVAL w.ttl MICROSECOND
 WHERE l.version = w.version
   AND l.expires_at <= utc_timestamp(6) - INTERVAL $2 MICROSECOND
)sql";

// Missing rows. $1: type, id, owner, holder, ttl in microseconds
constexpr std::string_view insert_many = R"sql(
INSERT INTO shared_lock (lock_type, source_id, version, owner, holder, acquired_at, expires_at)
SELECT w.lock_type, unhex(w.source_id),
       timestampdiff(MICROSECOND, '1970-01-01', utc_timestamp(6)),
       unhex(w.owner), CONVERT(unhex(w.holder) USING utf8mb4), utc_timestamp(6),
       utc_timestamp(6) + INTERVAL w.ttl MICROSECOND
  FROM json_table($1, '$[*]' COLUMNS (
         lock_type varchar(134) CHARACTER SET ascii PATH '$[0]',
         source_id varchar(510) CHARACTER SET ascii PATH '$[1]',
         owner varchar(64) CHARACTER SET ascii PATH '$[2]',
         holder varchar(256) CHARACTER SET ascii PATH '$[3]',
         ttl bigint PATH '$[4]')) AS w
)sql";

// $1: type, id, owner, version, ttl in microseconds
constexpr std::string_view renew_many = R"sql(
UPDATE json_table($1, '$[*]' COLUMNS (
         lock_type varchar(134) CHARACTER SET ascii PATH '$[0]',
         source_id varchar(510) CHARACTER SET ascii PATH '$[1]',
         owner varchar(64) CHARACTER SET ascii PATH '$[2]',
         version bigint PATH '$[3]',
         ttl bigint PATH '$[4]')) AS w
  STRAIGHT_JOIN shared_lock AS l FORCE INDEX (PRIMARY)
    ON l.lock_type = w.lock_type AND l.source_id = unhex(w.source_id)
   SET l.expires_at = utc_timestamp(6) + INTERVAL w.ttl MICROSECOND
 WHERE l.owner = unhex(w.owner) AND l.version = w.version
)sql";

// $1: type, id, owner, version, 1 if the callback failed, else 0, microseconds for which it stays
// closed, and for which it is remembered as done, or 0
constexpr std::string_view release_many = R"sql(
UPDATE json_table($1, '$[*]' COLUMNS (
         lock_type varchar(134) CHARACTER SET ascii PATH '$[0]',
         source_id varchar(510) CHARACTER SET ascii PATH '$[1]',
         owner varchar(64) CHARACTER SET ascii PATH '$[2]',
         version bigint PATH '$[3]',
         failed int PATH '$[4]',
         closed bigint PATH '$[5]',
         done bigint PATH '$[6]')) AS w
  STRAIGHT_JOIN shared_lock AS l FORCE INDEX (PRIMARY)
    ON l.lock_type = w.lock_type AND l.source_id = unhex(w.source_id)
   SET l.version = greatest(l.version + 1,
                            timestampdiff(MICROSECOND, '1970-01-01', utc_timestamp(6))),
       l.owner = NULL, l.holder = IF(w.closed > 0, l.holder, NULL), l.acquired_at = NULL,
       l.expires_at = IF(w.closed > 0, utc_timestamp(6) + INTERVAL w.closed MICROSECOND,
                         '1970-01-01 00:00:00'),
       l.done_by = IF(w.done > 0, w.version, l.done_by),
       l.done_at = IF(w.done > 0, utc_timestamp(6), l.done_at),
       l.done_until = IF(w.done > 0, utc_timestamp(6) + INTERVAL w.done MICROSECOND, l.done_until),
       l.failure_count = l.failure_count + w.failed
 WHERE l.owner = unhex(w.owner) AND l.version = w.version
)sql";

// $1: type, id
constexpr std::string_view insert_many_unowned = R"sql(
INSERT INTO shared_lock (lock_type, source_id, version)
SELECT w.lock_type, unhex(w.source_id),
       timestampdiff(MICROSECOND, '1970-01-01', utc_timestamp(6))
  FROM json_table($1, '$[*]' COLUMNS (
         lock_type varchar(134) CHARACTER SET ascii PATH '$[0]',
         source_id varchar(510) CHARACTER SET ascii PATH '$[1]')) AS w
)sql";

// Locks those that nobody has, for the transaction. $1: type, id, version
constexpr std::string_view have_many_at_version = R"sql(
SELECT w.place
  FROM json_table($1, '$[*]' COLUMNS (
         place FOR ORDINALITY,
         lock_type varchar(134) CHARACTER SET ascii PATH '$[0]',
         source_id varchar(510) CHARACTER SET ascii PATH '$[1]',
         version bigint PATH '$[2]')) AS w
  STRAIGHT_JOIN shared_lock AS l FORCE INDEX (PRIMARY)
    ON l.lock_type = w.lock_type AND l.source_id = unhex(w.source_id)
 WHERE l.version = w.version
 LIMIT 18446744073709551615
   {for_update} SKIP LOCKED
)sql";

// The same. $1: type, id, owner, version
constexpr std::string_view have_many_granted = R"sql(
SELECT w.place
  FROM json_table($1, '$[*]' COLUMNS (
         place FOR ORDINALITY,
         lock_type varchar(134) CHARACTER SET ascii PATH '$[0]',
         source_id varchar(510) CHARACTER SET ascii PATH '$[1]',
         owner varchar(64) CHARACTER SET ascii PATH '$[2]',
         version bigint PATH '$[3]')) AS w
  STRAIGHT_JOIN shared_lock AS l FORCE INDEX (PRIMARY)
    ON l.lock_type = w.lock_type AND l.source_id = unhex(w.source_id)
 WHERE l.owner = unhex(w.owner) AND l.version = w.version
 LIMIT 18446744073709551615
   {for_update} SKIP LOCKED
)sql";

}  // namespace

mysql_many_statements::mysql_many_statements(const table_name& table, mysql_flavour flavour) {
  const mysql_spelling spelled{table, flavour};
  take_many = spelled.plain(sql::take_many);
  insert_many = spelled.plain(sql::insert_many);
  renew_many = spelled.plain(sql::renew_many);
  release_many = spelled.plain(sql::release_many);
  insert_many_unowned = spelled.plain(sql::insert_many_unowned);
  have_many_at_version = spelled.skipping_locked(sql::have_many_at_version);
  have_many_granted = spelled.skipping_locked(sql::have_many_granted);
}

}  // namespace rowlock::sql
