// A store in a SQLite file, with its options and migrations.
#ifndef ROWLOCK_SQLITE_STORE_HPP
#define ROWLOCK_SQLITE_STORE_HPP

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rowlock/detail/export.hpp"
#include "rowlock/detail/home_process.hpp"
#include "rowlock/port/passing_store.hpp"
#include "rowlock/table_name.hpp"

namespace SQLite {
class Database;
}

namespace rowlock {

struct sqlite_options {
  table_name table = {};
  /// How long a statement waits to become the file's one writer. Then acquire is refused (busy),
  /// and renew and release are retried later.
  std::chrono::milliseconds turn_timeout{1000};
  /// Use the file even on a file system that machines share (NFS, SMB, FUSE, 9p and the like). By
  /// default that is `rejected`: locks do not work there, or not reliably.
  bool allow_network_file_system = false;
};

/// A store with one connection to the file, opened by the first call (WAL, synchronous=FULL). It
/// reads before it writes, so the answer that a key is held waits for no writer. Writers of all
/// processes take turns in the order in which they came, each of 5 ms or one longer write. They
/// queue in a file beside the database, `<database>-rowlock`, made with its permissions.
///
/// A file that this process may only read is opened for reading, for one call at a time. Then
/// `read` and `list` work, and every other call is `unavailable`. A purge deletes the idle rows
/// that it found in one transaction; other writers wait for it.
///
/// A thread of its own notices writes to the file from the first wait of a `lock_table` on, where
/// the system reports them (inotify): the waiters then read. On a connection from the application
/// only if a call was made before.
///
/// In a child of fork() a file that was open before is `misuse`: SQLite's locks on it stay with the
/// parent. Open it only after the fork, or destroy every store and connection on it before.
/// Thread-safe; calls run one at a time.
class ROWLOCK_EXPORT sqlite_store final : public passing_store {
 public:
  using connect = std::function<std::unique_ptr<SQLite::Database>()>;

  /// The file must exist: `migrate_sqlite` or `rowlock migrate` creates it. Opens nothing yet.
  /// Throws `error` (misuse) for a table in a schema other than `main`, the only one of a file.
  explicit sqlite_store(std::string path, sqlite_options options = {});
  /// A connection from the application, opened for writing and used for nothing else.
  explicit sqlite_store(connect factory, sqlite_options options = {});
  ~sqlite_store() override;

 protected:
  void pass(store_call made, work_on_store work) override;
  std::unique_ptr<subscription> do_listen(release_listener& listener) override;
  /// A file has one writer.
  [[nodiscard]] store_limits do_limits() const noexcept override {
    return {.statements_at_once = 1};
  }

 private:
  class impl;
  detail::owned_at_home<impl> impl_;
};

/// Applies missing migrations in one transaction and returns them. Creates a missing file (not its
/// folder) and switches it to WAL. Any number of processes may call it at once. Throws `error`;
/// rejected also for a schema newer than this library's. `history` begins or ends the history; then
/// the returned list ends with that step (number 0), unless nothing changed.
ROWLOCK_EXPORT std::vector<migration> migrate_sqlite(
    const std::string& path, const table_name& table = {},
    history_option history = history_option::unchanged);

}  // namespace rowlock

#endif
