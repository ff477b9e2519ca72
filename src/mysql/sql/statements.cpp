// The text of the statements for MariaDB and MySQL.
//
// What they have in common:
//   - The time is UTC_TIMESTAMP(6), the start of the statement; none waits between it and the
//   write.
//   - The new version is greatest(version + 1, microseconds since 1970), from the row as it is.
//   - SET is executed from left to right, and a column to the right of another sees the new value:
//     so what depends on the owner comes before the owner.
//   - Conditions are in WHERE, because SOCI's sessions count the rows that were found, not those
//     that were changed.
//   - With STRAIGHT_JOIN the list of keys comes first, and with FORCE INDEX only the rows that it
//     names are read and so locked: a small table would be scanned, through everybody's rows.
//   - A SELECT that answers several rows on a session of the application has a LIMIT, or its
//     sql_select_limit would hide some.
#include "mysql/sql/statements.hpp"

#include "mysql/sql/spelling.hpp"

namespace rowlock::sql {

namespace {

constexpr std::string_view schema_version =
    "SELECT coalesce(max(number), 0) FROM shared_lock_schema";

constexpr std::string_view look_for_table = "SELECT 1 FROM shared_lock LIMIT 0";

// The text begins with how a session would make the table that it sees.
constexpr std::string_view definition = "SHOW CREATE TABLE shared_lock";

// What is left of migrations when the table was dropped by hand.
constexpr std::string_view drop_companions = "DROP TABLE shared_lock_schema";

// What the table is: its kind and engine, its columns, and its primary key, a row for each part.
// $1 database, $2 table: as constants, or the server would open all tables of all databases. (No
// group_concat, which cuts at group_concat_max_len.)
constexpr std::string_view shape = R"sql(
SELECT 'table' AS what, table_type AS name, engine AS type, '' AS collated_by, '' AS takes_null,
       0 AS place
  FROM information_schema.tables
 WHERE table_schema = $1 AND table_name = $2
 UNION ALL
SELECT 'column', column_name, column_type, collation_name, is_nullable, ordinal_position
  FROM information_schema.columns
 WHERE table_schema = $1 AND table_name = $2
 UNION ALL
SELECT 'key', column_name, sub_part, '', '', seq_in_index
  FROM information_schema.statistics
 WHERE table_schema = $1 AND table_name = $2 AND index_name = 'PRIMARY'
 ORDER BY what, place
 LIMIT 18446744073709551615
)sql";

// The committed state, or that of the transaction. $1: type, id. A row for each key, in no order.
constexpr std::string_view look = R"sql(
SELECT w.place, l.version, l.owner, CAST(l.holder AS BINARY) AS holder,
       date_format(l.acquired_at, '%Y-%m-%d %H:%i:%s.%f') AS acquired_at,
       timestampdiff(MICROSECOND, utc_timestamp(6), l.expires_at) AS remaining_us,
       l.failure_count, l.expiry_count, l.done_by,
       date_format(l.done_at, '%Y-%m-%d %H:%i:%s.%f') AS done_at,
       timestampdiff(MICROSECOND, utc_timestamp(6), l.done_until) AS done_remaining_us,
       CAST(l.note AS BINARY) AS note, CAST(l.force_reason AS BINARY) AS force_reason
  FROM json_table($1, '$[*]' COLUMNS (
         place FOR ORDINALITY,
         lock_type varchar(134) CHARACTER SET ascii PATH '$[0]',
         source_id varchar(510) CHARACTER SET ascii PATH '$[1]')) AS w
  LEFT JOIN shared_lock AS l ON l.lock_type = w.lock_type AND l.source_id = unhex(w.source_id)
 LIMIT 18446744073709551615
)sql";

constexpr std::string_view list = R"sql(
SELECT lock_type, source_id, version, owner, CAST(holder AS BINARY) AS holder,
       date_format(acquired_at, '%Y-%m-%d %H:%i:%s.%f') AS acquired_at,
       timestampdiff(MICROSECOND, utc_timestamp(6), expires_at) AS remaining_us,
       failure_count, expiry_count, done_by,
       date_format(done_at, '%Y-%m-%d %H:%i:%s.%f') AS done_at,
       timestampdiff(MICROSECOND, utc_timestamp(6), done_until) AS done_remaining_us,
       CAST(note AS BINARY) AS note, CAST(force_reason AS BINARY) AS force_reason
  FROM shared_lock
 WHERE owner IS NOT NULL OR expires_at > utc_timestamp(6)
 ORDER BY lock_type, source_id
)sql";

// A row that nobody owns; the version is the insert id of the answer.
// $1 type, $2 id, $3 owner, $4 holder, $5 ttl in microseconds, $6 expected version or null, $7 1 to
// refuse one that is remembered as done, else 0, $8 microseconds since which it must be open
constexpr std::string_view acquire = R"sql(
UPDATE shared_lock
   SET version = last_insert_id(greatest(
         version + 1, timestampdiff(MICROSECOND, '1970-01-01', utc_timestamp(6)))),
       owner = $3, holder = $4, acquired_at = utc_timestamp(6),
       expires_at = utc_timestamp(6) + INTERVAL $5 MICROSECOND
 WHERE lock_type = $1 AND source_id = $2 AND owner IS NULL
   AND expires_at <= utc_timestamp(6) - INTERVAL $8 MICROSECOND
   AND ($6 IS NULL OR version = $6)
   AND ($7 = 0 OR done_until <= utc_timestamp(6))
)sql";

// A missing row; the version is the insert id. $1 type, $2 id, $3 owner, $4 holder, $5 ttl in
// microseconds
constexpr std::string_view insert = R"sql(
INSERT INTO shared_lock (lock_type, source_id, version, owner, holder, acquired_at, expires_at)
VALUES ($1, $2, last_insert_id(timestampdiff(MICROSECOND, '1970-01-01', utc_timestamp(6))),
        $3, $4, utc_timestamp(6), utc_timestamp(6) + INTERVAL $5 MICROSECOND)
)sql";

// $1 type, $2 id, $3 owner, $4 version, $5 ttl in microseconds
constexpr std::string_view renew = R"sql(
UPDATE shared_lock
   SET expires_at = utc_timestamp(6) + INTERVAL $5 MICROSECOND
 WHERE lock_type = $1 AND source_id = $2 AND owner = $3 AND version = $4
)sql";

// $1 type, $2 id, $3 owner, $4 version, $5 1 if the callback failed, else 0, $6 microseconds for
// which it stays closed, $7 for which it is remembered as done, or 0
constexpr std::string_view release = R"sql(
UPDATE shared_lock
   SET version = greatest(version + 1,
                          timestampdiff(MICROSECOND, '1970-01-01', utc_timestamp(6))),
       owner = NULL, holder = IF($6 > 0, holder, NULL), acquired_at = NULL,
       expires_at = IF($6 > 0, utc_timestamp(6) + INTERVAL $6 MICROSECOND, '1970-01-01 00:00:00'),
       done_by = IF($7 > 0, $4, done_by), done_at = IF($7 > 0, utc_timestamp(6), done_at),
       done_until = IF($7 > 0, utc_timestamp(6) + INTERVAL $7 MICROSECOND, done_until),
       failure_count = failure_count + $5
 WHERE lock_type = $1 AND source_id = $2 AND owner = $3 AND version = $4
)sql";

// The release of one lease and the grant of the next one in one; the version is the insert id.
// $1 type, $2 id, $3 owner, $4 version, $5 1 if the callback failed, else 0, $6 next owner, $7 next
// holder, $8 ttl in microseconds
constexpr std::string_view handoff = R"sql(
UPDATE shared_lock
   SET version = last_insert_id(greatest(
         version + 1, timestampdiff(MICROSECOND, '1970-01-01', utc_timestamp(6)))),
       owner = $6, holder = $7, acquired_at = utc_timestamp(6),
       expires_at = utc_timestamp(6) + INTERVAL $8 MICROSECOND,
       failure_count = failure_count + $5
 WHERE lock_type = $1 AND source_id = $2 AND owner = $3 AND version = $4
)sql";

}  // namespace

mysql_statements::mysql_statements(const table_name& table, mysql_flavour flavour)
    : mysql_transaction_statements{table, flavour},
      mysql_many_statements{table, flavour},
      mysql_set_statements{table, flavour},
      mysql_operator_statements{table, flavour} {
  const mysql_spelling spelled{table, flavour};
  schema_version = spelled.plain(sql::schema_version);
  look_for_table = spelled.plain(sql::look_for_table);
  drop_companions = spelled.plain(sql::drop_companions);
  shape = std::string{sql::shape};
  definition = spelled.plain(sql::definition);
  look = spelled.plain(sql::look);
  look_in_transaction = spelled.without_waiting(sql::look);
  list = spelled.plain(sql::list);
  acquire = spelled.plain(sql::acquire);
  insert = spelled.plain(sql::insert);
  renew = spelled.plain(sql::renew);
  release = spelled.plain(sql::release);
  handoff = spelled.plain(sql::handoff);
}

namespace mysql {

const std::string_view current_database = "SELECT database()";
const std::string_view do_nothing = "DO 0";
const std::string_view settings =
    "SHOW SESSION VARIABLES WHERE variable_name IN ('autocommit', 'version', 'wsrep_on')";
// In force for whoever connects and says nothing else.
const std::string_view settings_of_the_server =
    "SHOW GLOBAL VARIABLES WHERE variable_name IN ('autocommit', 'innodb_flush_log_at_trx_commit', "
    "'innodb_rollback_on_timeout', 'log_bin', 'sql_mode', 'sync_binlog', 'wsrep_on')";
const std::string_view read_committed_from_now_on =
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED";
// In seconds: $1 the time limit of a statement, $2 that of waiting for who locks the whole table
const std::string_view pin_mariadb =
    "SET SESSION innodb_lock_wait_timeout = 0, lock_wait_timeout = $2, max_statement_time = $1, "
    "sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', completion_type = 0, "
    "timestamp = DEFAULT, sql_select_limit = 18446744073709551615, sql_big_selects = 1";
// MySQL waits a second at least, and limits only what reads.
const std::string_view pin_mysql =
    "SET SESSION innodb_lock_wait_timeout = 1, lock_wait_timeout = $2, "
    "max_execution_time = $1 * 1000, sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', "
    "completion_type = 0, timestamp = DEFAULT, sql_select_limit = 18446744073709551615, "
    "sql_big_selects = 1";
// So that one of several who migrate at once does it, and the others find nothing to do.
const std::string_view take_migration_turn = "SELECT get_lock('rowlock migrate', 30)";

}  // namespace mysql

}  // namespace rowlock::sql
