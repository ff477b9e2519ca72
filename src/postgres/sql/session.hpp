// SQL for the session, the server and the schema, on PostgreSQL.
#ifndef ROWLOCK_POSTGRES_SQL_SESSION_HPP
#define ROWLOCK_POSTGRES_SQL_SESSION_HPP

#include <array>
#include <string_view>

namespace rowlock::postgres::sql {

struct setting {
  std::string_view name;
  std::string_view value;
};

// What every session of rowlock sets, whatever the server, the database or the role has set: as
// options of its startup packet, or by `pin_session`. With exit_on_error a conflict would end the
// session; without array_nulls an absent version is no number; the compiler of expressions (jit)
// takes longer than a statement.
// Not default_transaction_read_only: with it a server, or what watches over it, refuses writes, and
// target_session_attrs reads it.
inline constexpr std::array<setting, 4> pinned_settings{{
    {"default_transaction_isolation", "read committed"},
    {"array_nulls", "on"},
    {"exit_on_error", "off"},
    {"jit", "off"},
}};

// Sets the same in a session whose startup packet did not, and the encoding and time limits. Under
// another encoding a key would be another row. Time limits of the connection string stay, and a
// lock_timeout that the application has set. The lock timeout is at most half of the statement's:
// the end of a wait for a lock is contention, and the end of a statement is a fault.
// $1 process id that the connection was given, $2 statement timeout in milliseconds or null, $3
// lock timeout in milliseconds or null; {pinned} the settings above
// Sets nothing behind a pooler: settings would stay for its other clients, and be missing for this
// one. A pooler is recognised by the process id, which it makes up for its clients.
inline constexpr std::string_view pin_session = R"sql(
SELECT set_config(p.name, p.value, false)
  FROM (SELECT max(source) FILTER (WHERE name = 'statement_timeout') AS of_statement,
               max(setting) FILTER (WHERE name = 'statement_timeout') AS statement_ms,
               max(source) FILTER (WHERE name = 'lock_timeout') AS of_lock
          FROM pg_settings) s,
       LATERAL (VALUES
         {pinned},
         ('client_encoding', 'UTF8'),
         ('statement_timeout', CASE WHEN s.of_statement <> 'client' THEN $2::bigint || 'ms' END),
         ('lock_timeout', CASE WHEN s.of_lock NOT IN ('client', 'session') AND $3::bigint IS NOT NULL
            THEN greatest(1, least($3::bigint, nullif(
              CASE WHEN s.of_statement <> 'client' AND $2::bigint IS NOT NULL THEN $2::bigint
                   ELSE s.statement_ms::bigint END, 0) / 2)) || 'ms' END))
         AS p (name, value)
 WHERE pg_backend_pid() = $1::integer AND p.value IS NOT NULL
)sql";

// Keeps the session of a listener, which is idle by nature, from being ended for that. Not behind a
// pooler, as above; before PostgreSQL 14 there is no such setting.
// $1 process id that the connection was given
inline constexpr std::string_view stay_idle = R"sql(
SELECT set_config(name, '0', false)
  FROM pg_settings
 WHERE name = 'idle_session_timeout' AND pg_backend_pid() = $1::integer
)sql";

// Reads whether migrations were applied, whether the table exists, and whether it is still as they
// made it. That is its kind, whether each key has one row, and which columns have another type,
// collation, nullability or rule. (Domains count as their base types, so
// that a table may be moved to another schema.) And for which commands row-level security has no
// policy for this role, though it has the privilege. Without one for UPDATE a row can be read and
// created, but neither locked nor changed, and nothing reports that. No parameters.
inline constexpr std::string_view found_table = R"sql(
SELECT to_regclass('shared_lock_schema') IS NOT NULL AS is_there,
       (SELECT string_agg(n.command || ' on ' || n.on_table, ', ')
          FROM (VALUES ('shared_lock', 'SELECT', 'r'), ('shared_lock', 'INSERT', 'a'),
                       ('shared_lock', 'UPDATE', 'w'), ('shared_lock_schema', 'SELECT', 'r'))
               AS n (on_table, command, letter),
               LATERAL (SELECT to_regclass(n.on_table)::oid AS oid) t
         WHERE has_table_privilege(t.oid, n.command) AND {policies_of_t} !~ ('[*' || n.letter || ']')
       ) AS missing_policies,
       f.oid IS NOT NULL AS has_table, c.relkind AS kind, c.relpersistence AS persistence,
       EXISTS (SELECT FROM pg_inherits WHERE inhparent = f.oid) AS has_heirs,
       EXISTS (SELECT FROM pg_rewrite WHERE ev_class = f.oid) AS has_rewrites,
       EXISTS (SELECT FROM pg_index
                WHERE indrelid = f.oid AND indisprimary AND indisvalid AND indimmediate
                  AND ARRAY(SELECT a.attname::text
                              FROM generate_series(0, indnkeyatts - 1) AS place
                              JOIN pg_attribute a
                                ON a.attrelid = indrelid AND a.attnum = indkey[place]
                             ORDER BY place) = ARRAY['lock_type', 'source_id']) AS has_key,
       (SELECT string_agg(w.name, ', ')
          FROM (VALUES ('lock_type', 'text', true, 'lock_type_is_valid'),
                       ('source_id', 'text', true, 'has_1_to_255_bytes'),
                       ('version', 'bigint', true, NULL),
                       ('owner', 'text', false, NULL),
                       ('holder', 'text', false, NULL),
                       ('acquired_at', 'timestamptz', false, NULL),
                       ('expires_at', 'timestamptz', true, NULL),
                       ('ttl_us', 'bigint', false, NULL),
                       ('correlation_id', 'text', false, NULL),
                       ('ended_at', 'timestamptz', false, NULL),
                       ('ended_as', 'text', false, NULL),
                       ('failure_count', 'bigint', true, NULL),
                       ('expiry_count', 'bigint', true, NULL),
                       ('fence_count', 'bigint', true, NULL),
                       ('waiting_until', 'timestamptz', true, NULL),
                       ('done_by', 'bigint', false, NULL),
                       ('done_at', 'timestamptz', false, NULL),
                       ('done_until', 'timestamptz', true, 'is_finite'),
                       ('note', 'text', false, 'has_at_most_1024_bytes'),
                       ('forced_at', 'timestamptz', false, NULL),
                       ('forced_from', 'text', false, NULL),
                       ('force_reason', 'text', false, 'has_at_most_1024_bytes'),
                       ('asked_version', 'bigint', false, NULL),
                       ('asked_at', 'timestamptz', false, NULL),
                       ('asked_by', 'text', false, NULL),
                       ('ask_reason', 'text', false, 'has_at_most_1024_bytes'))
               AS w (name, type, is_needed, rule)
          LEFT JOIN pg_attribute a
                 ON a.attrelid = f.oid AND a.attname = w.name AND NOT a.attisdropped
          LEFT JOIN pg_type t ON t.oid = a.atttypid
          LEFT JOIN pg_collation l ON l.oid = a.attcollation
         WHERE (coalesce(nullif(t.typbasetype, 0), t.oid) = w.type::regtype
                AND (a.attnotnull OR NOT w.is_needed)
                AND (l.collname = 'C' OR w.name NOT IN ('lock_type', 'source_id', 'owner'))
                AND (w.rule IS NULL OR EXISTS (SELECT FROM pg_constraint
                                                WHERE contypid = t.oid AND conname = w.rule
                                                  AND convalidated))) IS NOT TRUE
       ) AS unlike_columns
  FROM (SELECT to_regclass('shared_lock') AS oid) f
  LEFT JOIN pg_class c ON c.oid = f.oid
)sql";

// Drops what migrations have left if the table was dropped by hand. Only shown in an error, for an
// administrator.
inline constexpr std::string_view drop_companions =
    "DROP TABLE shared_lock_schema; "
    "DROP FUNCTION IF EXISTS shared_lock_lock, shared_lock_try, shared_lock_fence; "
    "DROP DOMAIN IF EXISTS shared_lock_type, shared_lock_id, shared_lock_time, shared_lock_note";

// Reads the number of the last applied migration; null if there is none.
inline constexpr std::string_view schema_version =
    "SELECT max(number) AS number FROM shared_lock_schema";

// Reads the server's version: 150018 for 15.18. No parameters.
inline constexpr std::string_view server_version =
    "SELECT current_setting('server_version_num')::bigint AS number";

// Reads which rights the role needs, for what, and whether it has them. Null: there is no such
// table, or the history does not begin. No parameters.
inline constexpr std::string_view needed_rights = R"sql(
SELECT w.used_for, w.wanted, w.is_there
  FROM (SELECT to_regclass('shared_lock')::oid AS locks,
               to_regclass('shared_lock_schema')::oid AS record,
               (SELECT tgrelid
                  FROM pg_trigger
                 WHERE tgrelid = to_regclass('shared_lock') AND tgname = 'record_of_shared_lock'
               ) IS NOT NULL AS is_recorded,
               to_regclass('shared_lock_event')::oid AS events,
               to_regprocedure('shared_lock_lock(text[], text[], integer, boolean, integer)')::oid
                 AS lock_function,
               to_regprocedure('shared_lock_try(text, text, integer)')::oid AS try_function,
               to_regprocedure('shared_lock_fence(text, text, bigint, text, text)')::oid
                 AS fence_function) t
       -- A function that is missing is a right that is missing, where the table is there.
       LEFT JOIN LATERAL (
         SELECT has_function_privilege(t.lock_function, 'EXECUTE') IS TRUE AS lock,
                has_function_privilege(t.try_function, 'EXECUTE') IS TRUE AS try,
                has_function_privilege(t.fence_function, 'EXECUTE') IS TRUE AS fence
          WHERE t.locks IS NOT NULL) may ON true,
       LATERAL (VALUES
         ('lock', 'SELECT on shared_lock', has_table_privilege(t.locks, 'SELECT')),
         ('lock', 'INSERT on shared_lock', has_table_privilege(t.locks, 'INSERT')),
         ('lock', 'UPDATE on shared_lock', has_table_privilege(t.locks, 'UPDATE')),
         ('lock', 'SELECT on shared_lock_schema', has_table_privilege(t.record, 'SELECT')),
         ('lock', 'EXECUTE on function shared_lock_lock',
          may.lock),
         ('lock', 'EXECUTE on function shared_lock_try',
          may.try),
         ('lock', 'EXECUTE on function shared_lock_fence',
          may.fence),
         ('fence', 'SELECT on shared_lock', has_table_privilege(t.locks, 'SELECT')),
         ('fence', 'UPDATE (fence_count) on shared_lock',
          has_column_privilege(t.locks, 'fence_count', 'UPDATE')),
         ('fence', 'EXECUTE on function shared_lock_fence',
          may.fence),
         ('list', 'SELECT on shared_lock', has_table_privilege(t.locks, 'SELECT')),
         ('list', 'SELECT on shared_lock_schema', has_table_privilege(t.record, 'SELECT')),
         ('purge', 'SELECT on shared_lock', has_table_privilege(t.locks, 'SELECT')),
         ('purge', 'DELETE on shared_lock', has_table_privilege(t.locks, 'DELETE')),
         ('purge', 'UPDATE (fence_count) on shared_lock',
          has_column_privilege(t.locks, 'fence_count', 'UPDATE')),
         ('purge', 'SELECT on shared_lock_schema', has_table_privilege(t.record, 'SELECT')),
         ('record', 'INSERT on shared_lock_event',
          NOT t.is_recorded OR has_table_privilege(t.events, 'INSERT')))
         AS w (used_for, wanted, is_there)
UNION ALL
SELECT w.used_for, 'a row-level security policy for ' || w.command || ' on ' || w.on_table,
       {policies_of_t} ~ ('[*' || w.letter || ']')
  FROM (VALUES ('lock', 'shared_lock', 'SELECT', 'r'), ('lock', 'shared_lock', 'INSERT', 'a'),
               ('lock', 'shared_lock', 'UPDATE', 'w'), ('lock', 'shared_lock_schema', 'SELECT', 'r'),
               ('fence', 'shared_lock', 'SELECT', 'r'), ('fence', 'shared_lock', 'UPDATE', 'w'),
               ('list', 'shared_lock', 'SELECT', 'r'), ('list', 'shared_lock_schema', 'SELECT', 'r'),
               ('purge', 'shared_lock', 'SELECT', 'r'), ('purge', 'shared_lock', 'DELETE', 'd'),
               ('record', 'shared_lock_event', 'INSERT', 'a'))
         AS w (used_for, on_table, command, letter),
       LATERAL (SELECT to_regclass(w.on_table)::oid AS oid) t
 WHERE t.oid IS NOT NULL
)sql";

// Reads the schema of the lock table, and which parts of its history are there. No parameters.
inline constexpr std::string_view history_state = R"sql(
SELECT n.nspname AS schema,
       to_regclass('shared_lock_event') IS NOT NULL AS has_table,
       EXISTS (SELECT FROM pg_trigger t
                WHERE t.tgrelid = c.oid AND t.tgname = 'record_of_shared_lock') AS has_trigger
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE c.oid = 'shared_lock'::regclass
)sql";

// Reads the schema in which a migration finds or makes the tables. No parameters.
inline constexpr std::string_view schema_of_tables = R"sql(
SELECT coalesce((SELECT n.nspname
                   FROM pg_class c
                   JOIN pg_namespace n ON n.oid = c.relnamespace
                  WHERE c.oid = coalesce(to_regclass('shared_lock'), to_regclass('shared_lock_schema'))),
                current_schema()) AS schema
)sql";

// Limits the wait for a lock of the table: behind a wait for it, all other statements would wait.
inline constexpr std::string_view limit_lock_wait = "SET LOCAL lock_timeout = '2s'";

// Sets the isolation of a migration, as the first statement of its transaction: after waiting for
// another migration it must see its changes.
inline constexpr std::string_view read_committed = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED";

// Lists settings with which a server forgets acknowledged changes in a crash, or this session's
// triggers and foreign keys do not count. No parameters.
inline constexpr std::string_view weak_settings = R"sql(
SELECT name
  FROM pg_settings
 WHERE setting = 'off' AND name IN ('fsync', 'full_page_writes', 'synchronous_commit')
    OR setting = 'replica' AND name = 'session_replication_role'
 ORDER BY name
)sql";

// Whether a policy or a trigger may keep a change from being made without an error: row-level
// security, or a trigger BEFORE INSERT or UPDATE for each row. No parameters.
inline constexpr std::string_view may_lose_changes = R"sql(
SELECT row_security_active('shared_lock') OR EXISTS (
         SELECT FROM pg_trigger
          WHERE tgrelid = 'shared_lock'::regclass AND NOT tgisinternal AND tgenabled <> 'D'
            AND tgtype & 3 = 3 AND tgtype & 20 <> 0) AS may_lose_changes
)sql";

// Locks the row of a key, if it is there, and the gate for creating it, until the transaction ends;
// fails (55P03) if another transaction has the row. `has_gate` is false if another one may be
// creating it.
// $1 type, $2 id
inline constexpr std::string_view take_row_and_gate = R"sql(
SELECT {gate_of_parameters} AS has_gate,
       (SELECT 1
          FROM (SELECT FROM shared_lock
                 WHERE lock_type = $1 AND source_id = $2
                   FOR UPDATE NOWAIT) l) AS row
)sql";

// Reads whether this session leaves a connection for others of its role, its database and its
// server. No parameters.
inline constexpr std::string_view leaves_a_connection = R"sql(
SELECT (r.rolsuper OR ((r.rolconnlimit < 0 OR s.of_role < r.rolconnlimit)
                       AND (d.datconnlimit < 0 OR s.of_database < d.datconnlimit)))
       AND s.of_server < current_setting('max_connections')::integer
                         - current_setting('superuser_reserved_connections')::integer
                         - coalesce(current_setting('reserved_connections', true), '0')::integer
       AS is_left
  FROM pg_roles r,
       pg_database d,
       LATERAL (SELECT count(*) FILTER (WHERE usesysid = r.oid) AS of_role,
                       count(*) FILTER (WHERE datid = d.oid) AS of_database,
                       count(datid) AS of_server
                  FROM pg_stat_activity) s
 WHERE r.rolname = session_user AND d.datname = current_database()
)sql";

// Reads how many connections the role and the database of this session allow at once; null if
// neither has a limit. No parameters.
inline constexpr std::string_view connection_limit = R"sql(
SELECT least(nullif(r.rolconnlimit, -1), nullif(d.datconnlimit, -1)) AS number
  FROM pg_roles r, pg_database d
 WHERE r.rolname = session_user AND NOT r.rolsuper AND d.datname = current_database()
)sql";

// Makes migrations wait for each other, until their transactions end.
inline constexpr std::string_view take_migration_turn =
    "SELECT pg_advisory_xact_lock(hashtextextended('rowlock migrate', 0))";

}  // namespace rowlock::postgres::sql

#endif
