// The text of the statements for a person on call, on MariaDB and MySQL.
//
// What mysql_statements.cpp says of all of them holds for these too.
#include "mysql/sql/operator_statements.hpp"

#include "mysql/sql/spelling.hpp"

namespace rowlock::sql {

namespace {

// An empty note takes the last one away. $1: type, id, owner, version, note
constexpr std::string_view write_note = R"sql(
UPDATE json_table($1, '$[*]' COLUMNS (
         lock_type varchar(134) CHARACTER SET ascii PATH '$[0]',
         source_id varchar(510) CHARACTER SET ascii PATH '$[1]',
         owner varchar(64) CHARACTER SET ascii PATH '$[2]',
         version bigint PATH '$[3]',
         note varchar(2048) CHARACTER SET ascii PATH '$[4]')) AS w
  STRAIGHT_JOIN shared_lock AS l FORCE INDEX (PRIMARY)
    ON l.lock_type = w.lock_type AND l.source_id = unhex(w.source_id)
   SET l.note = CONVERT(nullif(unhex(w.note), X'') USING utf8mb4)
 WHERE l.owner = unhex(w.owner) AND l.version = w.version
)sql";

// The row if no transaction has it, which is locked as long as the statement runs. MySQL asks for
// more than SELECT before it locks a row against readers. $1 type, $2 id
constexpr std::string_view lock_if_free = R"sql(
SELECT 1
  FROM shared_lock AS l
 WHERE l.lock_type = $1 AND l.source_id = $2
)sql";

// A row that is owned, or stays closed. $1: type, id, version, reason
constexpr std::string_view force_release = R"sql(
UPDATE json_table($1, '$[*]' COLUMNS (
         lock_type varchar(134) CHARACTER SET ascii PATH '$[0]',
         source_id varchar(510) CHARACTER SET ascii PATH '$[1]',
         version bigint PATH '$[2]',
         reason varchar(2048) CHARACTER SET ascii PATH '$[3]')) AS w
  STRAIGHT_JOIN shared_lock AS l FORCE INDEX (PRIMARY)
    ON l.lock_type = w.lock_type AND l.source_id = unhex(w.source_id)
   SET l.version = greatest(l.version + 1,
                            timestampdiff(MICROSECOND, '1970-01-01', utc_timestamp(6))),
       l.owner = NULL, l.holder = NULL, l.acquired_at = NULL,
       l.expires_at = '1970-01-01 00:00:00',
       l.force_reason = CONVERT(unhex(w.reason) USING utf8mb4)
 WHERE l.version = w.version AND (l.owner IS NOT NULL OR l.expires_at > utc_timestamp(6))
)sql";

// The next $3 keys, and which rows are idle; the two conditions of the key make one range of the
// primary key. $1 type and $2 id after which to go on, both empty at the beginning, $4 microseconds
// since which an idle row has not been touched, $5 since which it must be open. A row `type#0` says
// how many of `type#1` and so on there are, so it stays until these are gone. They are looked for
// one by one: a range of the key would go through those of all other ids too.
constexpr std::string_view rows_to_purge = R"sql(
SELECT lock_type, source_id, version,
       owner IS NULL AND expires_at <= utc_timestamp(6) - INTERVAL $5 MICROSECOND
         AND done_until <= utc_timestamp(6)
         AND version < timestampdiff(MICROSECOND, '1970-01-01', utc_timestamp(6)) - $4
         AND NOT (lock_type LIKE '%#0' AND EXISTS (
               SELECT 1
                 FROM json_table(concat('[', repeat('0,', 999), '0]'), '$[*]' COLUMNS (
                        number FOR ORDINALITY)) AS numbers
                 STRAIGHT_JOIN shared_lock AS n FORCE INDEX (PRIMARY)
                   ON n.lock_type = CONVERT(concat(left(l.lock_type, length(l.lock_type) - 1),
                                                   numbers.number) USING ascii)
                  AND n.source_id = l.source_id)) AS is_idle
  FROM shared_lock AS l FORCE INDEX (PRIMARY)
 WHERE lock_type >= $1 AND (lock_type > $1 OR source_id > $2)
 ORDER BY lock_type, source_id
 LIMIT $3
)sql";

// Rows that are as they were when they were seen to be idle. $1: type, id, version
constexpr std::string_view purge_many = R"sql(
DELETE l
  FROM json_table($1, '$[*]' COLUMNS (
         lock_type varchar(134) CHARACTER SET ascii PATH '$[0]',
         source_id varchar(510) CHARACTER SET ascii PATH '$[1]',
         version bigint PATH '$[2]')) AS w
  STRAIGHT_JOIN shared_lock AS l FORCE INDEX (PRIMARY)
    ON l.lock_type = w.lock_type AND l.source_id = unhex(w.source_id)
 WHERE l.version = w.version
)sql";

}  // namespace

mysql_operator_statements::mysql_operator_statements(const table_name& table,
                                                     mysql_flavour flavour) {
  const mysql_spelling spelled{table, flavour};
  write_note = spelled.plain(sql::write_note);
  lock_if_free = spelled.skipping_locked(
      std::string{sql::lock_if_free} +
      (flavour == mysql_flavour::mariadb ? "{for_update} SKIP LOCKED" : "{for_share} SKIP LOCKED"));
  force_release = spelled.plain(sql::force_release);
  rows_to_purge = spelled.plain(sql::rows_to_purge);
  purge_many = spelled.plain(sql::purge_many);
}

}  // namespace rowlock::sql
