// The text of the statements for PostgreSQL about the session, the server and the schema.
#include "sql/postgres_session_statements.hpp"

#include <string_view>

namespace rowlock::sql {

namespace {

// Of a connection whose startup packet did not say it. Behind a pooler the session is not ours:
// what is set there would stay for its other clients and be missing for us. A pooler tells its
// clients process ids of its own making. $1 the process id that we were told, $2 the time limit of
// a statement in milliseconds, or null, $3 that of waiting for a lock; what the connection string
// says goes before them.
constexpr std::string_view pin_session = R"sql(
SELECT CASE WHEN s.is_ours
            THEN set_config('default_transaction_isolation', 'read committed', false)
        END AS isolation,
       CASE WHEN s.is_ours AND s.of_statement <> 'client' AND $2::bigint IS NOT NULL
            THEN set_config('statement_timeout', $2::bigint || 'ms', false)
        END AS statement_timeout,
       CASE WHEN s.is_ours AND s.of_lock <> 'client' AND $3::bigint IS NOT NULL
            THEN set_config('lock_timeout', $3::bigint || 'ms', false)
        END AS lock_timeout
  FROM (SELECT pg_backend_pid() = $1::integer AS is_ours,
               max(source) FILTER (WHERE name = 'statement_timeout') AS of_statement,
               max(source) FILTER (WHERE name = 'lock_timeout') AS of_lock
          FROM pg_settings) s
)sql";

// Whether migrations were ever applied here, and whether what they made is still there.
constexpr std::string_view schema_exists =
    "SELECT to_regclass('shared_lock_schema') IS NOT NULL AS is_there, "
    "to_regclass('shared_lock') IS NOT NULL AS has_table";

// What is left of migrations when the table was dropped by hand.
constexpr std::string_view drop_companions =
    "DROP TABLE shared_lock_schema; DROP FUNCTION IF EXISTS shared_lock_lock; "
    "DROP DOMAIN IF EXISTS shared_lock_type, shared_lock_id, shared_lock_token, "
    "shared_lock_owner, shared_lock_holder, shared_lock_time, shared_lock_note";

// The number of the last migration that is applied.
constexpr std::string_view schema_version =
    "SELECT coalesce(max(number), 0) AS number FROM shared_lock_schema";

// For this transaction, before anything else in it: who waits for a turn sees what was done in the
// turns before.
constexpr std::string_view read_committed = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED";

// With these a server that crashes forgets what it has acknowledged.
constexpr std::string_view weak_settings = R"sql(
SELECT name
  FROM pg_settings
 WHERE setting = 'off' AND name IN ('fsync', 'full_page_writes', 'synchronous_commit')
 ORDER BY name
)sql";

// Those who migrate take turns, until their transactions end.
constexpr std::string_view take_migration_turn =
    "SELECT pg_advisory_xact_lock(hashtextextended('rowlock migrate', 0))";

}  // namespace

postgres_session_statements::postgres_session_statements(const table_name& table)
    : pin_session{table.in(sql::pin_session)},
      schema_exists{table.in(sql::schema_exists)},
      drop_companions{table.in(sql::drop_companions)},
      schema_version{table.in(sql::schema_version)},
      read_committed{table.in(sql::read_committed)},
      weak_settings{table.in(sql::weak_settings)},
      take_migration_turn{table.in(sql::take_migration_turn)} {}

}  // namespace rowlock::sql
