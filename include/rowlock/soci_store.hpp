// A store over a SOCI connection, with its options and migrations.
#ifndef ROWLOCK_SOCI_STORE_HPP
#define ROWLOCK_SOCI_STORE_HPP

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rowlock/detail/export.hpp"
#include "rowlock/port/sql_store.hpp"
#include "rowlock/table_name.hpp"

namespace soci {
class connection_pool;
}

namespace rowlock {

struct soci_options {
  table_name table = {};
  /// The most sessions at once. Each call uses one, for one statement or a few; a lease uses none.
  /// Of two or more, acquisitions always leave one to renewals and releases, so that many waiters
  /// cannot make held leases run out.
  unsigned pool_size = 4;
  /// How long a call waits for a free session before it throws `unavailable`.
  std::chrono::milliseconds pool_timeout{5000};
  /// Added to connection strings that lack it, so that a silent network costs only seconds.
  std::chrono::seconds connect_timeout{5};
  /// How long the server may take for a statement; set for each session of the store.
  std::chrono::milliseconds statement_timeout{10'000};
  /// How long a statement may wait for a transaction that locks the whole table (ALTER TABLE, LOCK
  /// TABLES); a call that has waited once or twice is `unavailable`. In whole seconds on MariaDB
  /// and MySQL. On PostgreSQL also for a row, as `postgres_options::lock_timeout`.
  std::chrono::milliseconds lock_timeout{1000};
  /// How long an answer may take; above `statement_timeout`. It covers failures that the network
  /// does not show. Added to connection strings that lack it, if the backend has such a limit.
  std::chrono::seconds answer_timeout{15};
  /// How far apart the clocks of the servers that may execute a call can be; at most a minute. A
  /// lease is taken over only if it ran out at least this long ago. None: zero, or one second where
  /// several servers write (Galera, or a MySQL group with several primaries).
  std::optional<std::chrono::milliseconds> clock_skew = std::nullopt;
  /// On SQLite: as `sqlite_options::turn_timeout`.
  std::chrono::milliseconds turn_timeout{1000};
  /// On SQLite: as `sqlite_options::allow_network_file_system`.
  bool allow_network_file_system = false;
  /// As `postgres_options::connection_string_now`, for the same backend. Not used with a pool.
  std::function<std::string()> connection_string_now = {};
};

/// Converts a URL to what SOCI reads, for sessions that the application opens itself; stores and
/// migrations do it by themselves. A URL for MariaDB or MySQL is
///
/// `mysql://user:password@host:port/database?name=value&name=value`
///
/// (or mariadb://). Every part is optional, and %XX stands for a byte. The names are charset,
/// connect_timeout, read_timeout, write_timeout (in seconds), sslca, sslcert, sslkey and
/// unix_socket.
///
/// Any other text is returned as it is, including SOCI's own `mysql://host=db user=app`, which
/// begins with a name and `=` (in the user of a URL write %3D). Throws `error` (misuse) that does
/// not show the text. Opens no connection. Thread-safe.
ROWLOCK_EXPORT std::string soci_connection_string(std::string_view text);

/// A store for the SOCI backends "mysql" (MariaDB from 10.6, MySQL from 8.0.19), "postgresql" and
/// "sqlite3"; others are refused. It opens sessions on demand. On PostgreSQL their
/// `application_name` is that of a `postgres_store`.
///
/// On MariaDB and MySQL:
///   - sets and a purge take more round trips: docs/databases/mariadb.md lists them
///   - a read with `shown` locks the row during the statement, if it can; another call is then
///     answered `busy`. On MySQL it does not see a fence that only shares the row
///   - on MySQL a handoff is two calls, and another caller may get in between
///   - calls share a statement only if 17 meet: a statement for several keys is three round trips
///
/// `weak_settings` on MariaDB and MySQL checks innodb_flush_log_at_trx_commit, sync_binlog,
/// sql_mode, autocommit, and whether the server is a node of a cluster. On PostgreSQL as
/// `postgres_store`. On SQLite none: the store sets what it needs for itself. Thread-safe.
class ROWLOCK_EXPORT soci_store final : public sql_store {
 public:
  /// As SOCI reads it, `backend://parameters` ("mysql://db=shop user=app"), or a URL as
  /// `soci_connection_string` takes it ("mysql://app@db/shop"). Opens no connection yet. Throws
  /// `error` (misuse) for an unsupported backend, and for parameters that cannot work.
  explicit soci_store(std::string connection_string, soci_options options = {});
  /// The application's pool, which must outlive the store, and which only the store uses meanwhile.
  /// Its sessions are open. The store takes up to `pool_size` of them on demand, changes their
  /// settings, and returns them in its destructor. It reconnects a session that lost its
  /// connection. Sends nothing yet. Throws `error` (misuse) if the first session is not open, and
  /// (rejected) for an unsupported backend.
  explicit soci_store(soci::connection_pool& pool, soci_options options = {});
};

/// Applies missing migrations and returns them. Any number of processes may migrate at once. Throws
/// `error`: unavailable; misuse for an unsupported backend; rejected if the schema is newer than
/// this library, if the user may not create tables, or if something else is in the way. On MySQL
/// and MariaDB a CREATE TABLE commits by itself: the next call continues an interrupted migration.
/// `history` begins or ends the history; then the returned list ends with that step (number 0),
/// unless nothing changed.
ROWLOCK_EXPORT std::vector<migration> migrate_soci(
    const std::string& connection_string, const table_name& table = {},
    history_option history = history_option::unchanged);

/// All migrations for the connection string's database, in order.
ROWLOCK_EXPORT std::vector<migration> soci_migrations(const std::string& connection_string,
                                                      const table_name& table = {});
/// The history for the connection string's database.
ROWLOCK_EXPORT migration soci_history(const std::string& connection_string,
                                      const table_name& table = {});

}  // namespace rowlock

#endif
