// SQL about the session, the server and the schema, on MariaDB and MySQL.
#ifndef ROWLOCK_MYSQL_SQL_SESSION_HPP
#define ROWLOCK_MYSQL_SQL_SESSION_HPP

#include <string_view>

namespace rowlock::mysql::sql {

inline constexpr std::string_view schema_version =
    "SELECT coalesce(max(number), 0) FROM shared_lock_schema";

inline constexpr std::string_view find_table = "SELECT 1 FROM shared_lock LIMIT 0";

// The text begins with how a session would make the table that it sees.
inline constexpr std::string_view definition = "SHOW CREATE TABLE shared_lock";

// What is left of migrations when the table was dropped by hand.
inline constexpr std::string_view drop_companions = "DROP TABLE shared_lock_schema";

// What the table is: its kind and engine, its columns, and its primary key, a row for each part.
// $1 database, $2 table: as constants, or the server would open all tables of all databases. (No
// group_concat, which cuts at group_concat_max_len.)
inline constexpr std::string_view shape = R"sql(
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

inline constexpr std::string_view current_database = "SELECT database()";

inline constexpr std::string_view do_nothing = "DO 0";

inline constexpr std::string_view settings =
    "SHOW SESSION VARIABLES WHERE variable_name IN ('autocommit', 'version', 'wsrep_on')";

// In force for whoever connects and says nothing else.
inline constexpr std::string_view settings_of_the_server =
    "SHOW GLOBAL VARIABLES WHERE variable_name IN ('autocommit', 'innodb_flush_log_at_trx_commit', "
    "'innodb_rollback_on_timeout', 'log_bin', 'sql_mode', 'sync_binlog', 'wsrep_on')";

inline constexpr std::string_view read_committed_from_now_on =
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED";

// In seconds: $1 the time limit of a statement, $2 that of waiting for who locks the whole table
inline constexpr std::string_view pin_mariadb =
    "SET SESSION innodb_lock_wait_timeout = 0, lock_wait_timeout = $2, max_statement_time = $1, "
    "sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', completion_type = 0, "
    "timestamp = DEFAULT, sql_select_limit = 18446744073709551615, sql_big_selects = 1";

// MySQL waits a second at least, and limits only what reads.
inline constexpr std::string_view pin_mysql =
    "SET SESSION innodb_lock_wait_timeout = 1, lock_wait_timeout = $2, "
    "max_execution_time = $1 * 1000, sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', "
    "completion_type = 0, timestamp = DEFAULT, sql_select_limit = 18446744073709551615, "
    "sql_big_selects = 1";

// So that one of several who migrate at once does it, and the others find nothing to do.
inline constexpr std::string_view take_migration_turn = "SELECT get_lock('rowlock migrate', 30)";

}  // namespace rowlock::mysql::sql

#endif
