// The text of the statements for sets of keys on MariaDB and MySQL.
//
// What mysql_statements.cpp says of all of them holds for these too.
#include "mysql/sql/set_statements.hpp"

#include "mysql/sql/spelling.hpp"

namespace rowlock::sql {

namespace {

// All rows or none: for a row that is not as it was seen, or not free since $2 microseconds, the
// version overflows (error 1690), and so the statement fails as a whole, whatever the sql_mode and
// the table's CHECKs. (What overflows names a column, so that no server computes it before the
// rows.) Missing rows (version 0) are inserted. The time is the insert id. $1: type, id, version,
// owner, holder, ttl in microseconds, 1 for a grant that was made already, else 0
constexpr std::string_view grant_all = R"sql(
INSERT INTO shared_lock (lock_type, source_id, version, owner, holder, acquired_at, expires_at)
SELECT w.lock_type, unhex(w.source_id),
       last_insert_id(timestampdiff(MICROSECOND, '1970-01-01', utc_timestamp(6))),
       unhex(w.owner), CONVERT(unhex(w.holder) USING utf8mb4), utc_timestamp(6),
       utc_timestamp(6) + INTERVAL w.ttl MICROSECOND
  FROM json_table($1, '$[*]' COLUMNS (
         lock_type varchar(134) CHARACTER SET ascii PATH '$[0]',
         source_id varchar(510) CHARACTER SET ascii PATH '$[1]',
         version bigint PATH '$[2]',
         owner varchar(64) CHARACTER SET ascii PATH '$[3]',
         holder varchar(256) CHARACTER SET ascii PATH '$[4]',
         ttl bigint PATH '$[5]',
         is_mine int PATH '$[6]')) AS w
    ON DUPLICATE KEY UPDATE
       expiry_count = shared_lock.expiry_count
         + (shared_lock.owner IS NOT NULL AND shared_lock.owner <> unhex(w.owner)),
       version = CASE
         WHEN shared_lock.version = w.version AND w.is_mine = 1 THEN shared_lock.version
         WHEN shared_lock.version = w.version
              AND shared_lock.expires_at <= utc_timestamp(6) - INTERVAL $2 MICROSECOND
         THEN greatest(shared_lock.version + 1,
                       timestampdiff(MICROSECOND, '1970-01-01', utc_timestamp(6)))
         ELSE 9223372036854775807 + (1 + abs(sign(shared_lock.version))) END,
       owner = unhex(w.owner),
       holder = IF(w.is_mine = 1, shared_lock.holder, CONVERT(unhex(w.holder) USING utf8mb4)),
       acquired_at = IF(w.is_mine = 1, shared_lock.acquired_at, utc_timestamp(6)),
       expires_at = utc_timestamp(6) + INTERVAL w.ttl MICROSECOND
)sql";

// Locks the first $2 that nobody has, for the transaction. $1: type, id, version
constexpr std::string_view have_some_at_version = R"sql(
SELECT w.place
  FROM json_table($1, '$[*]' COLUMNS (
         place FOR ORDINALITY,
         lock_type varchar(134) CHARACTER SET ascii PATH '$[0]',
         source_id varchar(510) CHARACTER SET ascii PATH '$[1]',
         version bigint PATH '$[2]')) AS w
  STRAIGHT_JOIN shared_lock AS l FORCE INDEX (PRIMARY)
    ON l.lock_type = w.lock_type AND l.source_id = unhex(w.source_id)
 WHERE l.version = w.version
 LIMIT $2
   {for_update} SKIP LOCKED
)sql";

}  // namespace

mysql_set_statements::mysql_set_statements(const table_name& table, mysql_flavour flavour) {
  const mysql_spelling spelled{table, flavour};
  grant_all = spelled.plain(sql::grant_all);
  have_some_at_version = spelled.skipping_locked(sql::have_some_at_version);
}

}  // namespace rowlock::sql
