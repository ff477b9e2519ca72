// SQL for the session, the server and the schema, on MariaDB and MySQL.
#ifndef ROWLOCK_MYSQL_SQL_SESSION_HPP
#define ROWLOCK_MYSQL_SQL_SESSION_HPP

#include <string_view>

namespace rowlock::mysql::sql {

// Reads the number of the last applied migration; 0 if there is none. Fails without the table. No
// parameters.
inline constexpr std::string_view schema_version =
    "SELECT coalesce(max(number), 0) FROM shared_lock_schema";

// Fails if the lock table does not exist; reads no row. No parameters.
inline constexpr std::string_view find_table = "SELECT 1 FROM shared_lock LIMIT 0";

// Statements that are explained and not executed: the server refuses those that the user may not
// execute. No parameters.
inline constexpr std::string_view explain_insert =
    "EXPLAIN INSERT INTO shared_lock SELECT * FROM shared_lock";
inline constexpr std::string_view explain_update = "EXPLAIN UPDATE shared_lock SET owner = owner";
inline constexpr std::string_view explain_fence =
    "EXPLAIN UPDATE shared_lock SET fence_count = fence_count";
inline constexpr std::string_view explain_delete = "EXPLAIN DELETE FROM shared_lock";

// Reads the definition of the table that this session sees: it begins with CREATE TEMPORARY for a
// temporary one.
inline constexpr std::string_view definition = "SHOW CREATE TABLE shared_lock";

// Drops what migrations have left if the table was dropped by hand. Only shown in an error, for an
// administrator.
inline constexpr std::string_view drop_companions = "DROP TABLE shared_lock_schema";

// Reads the kind and engine of the table, its columns, and a row for each part of its primary key.
// (No group_concat, which cuts at group_concat_max_len.)
// $1 database, $2 table: as constants, or the server would open all tables of all databases
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

// Counts the tables (one) and triggers (two) of a history that are there.
// $1 database or null, $2 the lock table's name
inline constexpr std::string_view parts_of_history = R"sql(
SELECT (SELECT count(*)
          FROM information_schema.tables
         WHERE table_schema = coalesce($1, database()) AND table_name = concat($2, '_event')),
       (SELECT count(*)
            FROM information_schema.triggers
           WHERE trigger_schema = coalesce($1, database())
             AND trigger_name IN (concat($2, '_record'), concat($2, '_insert')))
)sql";

// Reads the session's database, for a table whose name has none.
inline constexpr std::string_view current_database = "SELECT database()";

// Does nothing; the answer has the server's status, with whether a transaction is open.
inline constexpr std::string_view do_nothing = "DO 0";

// Reads what a store checks on its session: the product, and the settings of a cluster.
inline constexpr std::string_view settings =
    "SHOW SESSION VARIABLES WHERE variable_name IN "
    "('version_comment', 'wsrep_on', 'group_replication_single_primary_mode')";

// MySQL alone: reads the settings by which a server says that others write beside it, as far as it
// has them, on a session of the application. Needs no privilege. (The number of primaries would
// need one, and a group with one primary at the moment may have more at the next.)
inline constexpr std::string_view settings_of_clusters = R"sql(
SELECT variable_name, variable_value
  FROM performance_schema.session_variables
 WHERE variable_name IN ('wsrep_on', 'group_replication_single_primary_mode')
 LIMIT 18446744073709551615
)sql";

// Reads the global settings, which new connections have. A store warns of those with which a crash
// loses acknowledged changes, or an application's transaction loses its protection.
inline constexpr std::string_view settings_of_the_server =
    "SHOW GLOBAL VARIABLES WHERE variable_name IN ('autocommit', "
    "'group_replication_single_primary_mode', 'innodb_flush_log_at_trx_commit', "
    "'innodb_rollback_on_timeout', 'log_bin', 'sql_mode', 'sync_binlog', 'wsrep_on')";

// Reads how many connections the user of this session may have at once; null if only the server has
// a limit. No parameters.
inline constexpr std::string_view connection_limit =
    "SELECT nullif(greatest(@@session.max_user_connections, 0), 0)";

// Sets the isolation of every session that rowlock opens, and lets it write: above READ COMMITTED,
// a row that a condition refuses would stay locked until the transaction ends.
inline constexpr std::string_view read_committed_from_now_on =
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE";

// Begins the statement that sets up a session: for a store with no waiting for row locks and with
// time limits.
// $1 time limit of a statement, $2 time limit of waiting for a lock on the whole table, both in
// seconds
inline constexpr std::string_view pin_store_on_mariadb =
    "SET SESSION innodb_lock_wait_timeout = 0, lock_wait_timeout = $2, max_statement_time = $1, ";

// The same for MySQL, which waits for a row lock for at least a second, and limits only statements
// that read.
inline constexpr std::string_view pin_store_on_mysql =
    "SET SESSION innodb_lock_wait_timeout = 1, lock_wait_timeout = $2, "
    "max_execution_time = $1 * 1000, ";

// The same for a migration, which may wait.
inline constexpr std::string_view pin_migration = "SET SESSION ";

// Goes on with the settings that would change what a statement means, or whether it works. Those of
// the server, of `init_connect` and of an application's pool are overruled.
inline constexpr std::string_view pinned =
    "autocommit = 1, sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', completion_type = 0, "
    "timestamp = DEFAULT, sql_select_limit = 18446744073709551615, sql_big_selects = 1, "
    "sql_safe_updates = 0, foreign_key_checks = 1, unique_checks = 1, max_sort_length = 1024";

// And with those that only MariaDB has.
inline constexpr std::string_view pinned_on_mariadb =
    ", check_constraint_checks = 1, default_regex_flags = ''";

// And ends with the character set of texts, and how constants compare.
inline constexpr std::string_view pinned_names = ", NAMES utf8mb4 COLLATE utf8mb4_bin";

// Makes concurrent migrations wait for each other, 30 seconds at most: one migrates, and the others
// find nothing to do.
inline constexpr std::string_view take_migration_turn = "SELECT get_lock('rowlock migrate', 30)";

}  // namespace rowlock::mysql::sql

#endif
