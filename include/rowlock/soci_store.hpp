// The store in what SOCI connects to, and its migrations.
#ifndef ROWLOCK_SOCI_STORE_HPP
#define ROWLOCK_SOCI_STORE_HPP

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rowlock/port/sql_store.hpp"
#include "rowlock/table_name.hpp"

namespace soci {
class connection_pool;
}

namespace rowlock {

struct soci_options {
  table_name table = {};
  /// The most sessions at once. Each call uses one, for one statement or a few; none is held while
  /// a lease is. Of two or more, calls for new leases never have all; renewals and releases share
  /// what is left, so that many who wait for keys cannot make held ones run out.
  unsigned pool_size = 4;
  /// How long a call waits for a free session before it throws `unavailable`.
  std::chrono::milliseconds pool_timeout{5000};
  /// Added to connection strings that do not say otherwise, so that a silent network costs seconds.
  std::chrono::seconds connect_timeout{5};
  /// How long the server may take for a statement; for each session of the store.
  std::chrono::milliseconds statement_timeout{10'000};
  /// How long it may wait for somebody who locks the whole table (ALTER TABLE, LOCK TABLES), in
  /// whole seconds on MariaDB and MySQL, where a call may wait twice; then it is `unavailable`.
  std::chrono::milliseconds lock_timeout{2000};
  /// How long an answer may take, whatever the network pretends; above `statement_timeout`. Added
  /// to connection strings that do not say otherwise, where the backend knows of such a limit.
  std::chrono::seconds answer_timeout{15};
  /// How far the clocks of the servers that may execute a call can be apart: a lease is taken over
  /// only when it ran out that long ago. None: zero, or one second where several servers write
  /// (Galera). At most a minute.
  std::optional<std::chrono::milliseconds> clock_skew = std::nullopt;
  /// On SQLite, which has one writer a file: how long a statement waits for its turn. After that
  /// acquire is refused (busy), renew and release are asked again later.
  std::chrono::milliseconds turn_timeout{1000};
  /// On SQLite: use the file even if it is on a file system that machines share (NFS, SMB, FUSE, 9p
  /// and the like). Otherwise that is refused (`rejected`): locks do not work there, or not
  /// reliably.
  bool allow_network_file_system = false;
  /// On PostgreSQL, as `postgres_options::asynchronous_release`; elsewhere nothing changes.
  bool asynchronous_release = false;
};

/// What SOCI reads, for sessions that the application opens itself; stores and migrations ask for
/// it on their own. Of a URL of MariaDB or MySQL,
///
///   mysql://user:password@host:port/database?name=value&name=value
///
/// (or mariadb://), every part of which is optional, and where %XX stands for a byte. The names are
/// charset, connect_timeout, read_timeout, write_timeout (in seconds), sslca, sslcert, sslkey and
/// unix_socket. Any other text is returned as it is: SOCI's own `mysql://host=db user=app` too,
/// which begins with a name and `=` (in a user of a URL write %3D). Throws `error` (misuse), which
/// does not show the text. Looks at the text alone. Thread-safety: any thread.
std::string soci_connection_string(std::string_view text);

/// For the SOCI backends "mysql" (MariaDB from 10.6, MySQL from 8.0.19), "postgresql" and
/// "sqlite3"; others are refused (`rejected`). A few sessions of its own, opened when needed; on
/// PostgreSQL with an `application_name` as those of `postgres_store`.
///
/// On MariaDB and MySQL sets, and a purge, take more round trips: docs/databases.md says how many.
/// Batching pays from 17 calls there, where a statement for several keys is three round trips; from
/// 2 over a pool of the application's, whose backend is known later. A read with `shown` locks the
/// row for the length of a statement if it can, and a call that meets that is answered `busy`; on
/// MySQL it does not see a fence that only shares the row. A handoff on MySQL is two calls: another
/// caller may get in between.
///
/// `weak_settings` reports, on MariaDB and MySQL, innodb_flush_log_at_trx_commit, sync_binlog,
/// sql_mode, autocommit, and whether the server is a node of a Galera cluster; on PostgreSQL what
/// `postgres_store` reports; on SQLite nothing: the store sets what it needs for itself.
///
/// Thread-safety: all members may be called from any thread.
class soci_store final : public sql_store {
 public:
  /// As SOCI reads it, `backend://parameters`: "mysql://db=shop user=app"; or a URL as
  /// `soci_connection_string` takes it: "mysql://app@db/shop". Nothing is opened yet.
  /// Throws `error`: rejected for a backend that is not supported, misuse for parameters that
  /// cannot work.
  explicit soci_store(std::string connection_string, soci_options options = {});
  /// The application's pool, whose sessions are open, and used by this store alone as long as it
  /// lives: it takes up to `pool_size` of them when needed, changes their settings and gives them
  /// back at its end. One that lost its connection is connected anew. The pool must outlive it.
  explicit soci_store(soci::connection_pool& pool, soci_options options = {});
};

/// Applies what is missing and returns it; nothing if all is there. Any number of processes may
/// migrate at once. Throws `error`: rejected when the schema is newer than this library, when
/// something else is in the way, when the user may not create tables, and for a backend that is not
/// supported; unavailable.
///
/// On MySQL and MariaDB a CREATE TABLE commits by itself: one that was interrupted is continued by
/// the next call.
std::vector<migration> migrate_soci(const std::string& connection_string,
                                    const table_name& table = {});

/// All steps for the database that the connection string names, in order.
std::vector<migration> soci_migrations(const std::string& connection_string,
                                       const table_name& table = {});

}  // namespace rowlock

#endif
