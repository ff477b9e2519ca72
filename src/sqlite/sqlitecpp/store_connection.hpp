// The connection of a store, and who may use it.
#ifndef ROWLOCK_SQLITE_SQLITECPP_STORE_CONNECTION_HPP
#define ROWLOCK_SQLITE_SQLITECPP_STORE_CONNECTION_HPP

#include <SQLiteCpp/Database.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/timed_mutex.hpp"
#include "rowlock/sqlite_store.hpp"
#include "sqlite/file_access.hpp"

namespace rowlock::detail {

/// Thread-safety: all members may be called from any thread; they take turns.
class store_connection {
 public:
  store_connection(std::string path, sqlite_options options);
  store_connection(sqlite_store::connect factory, sqlite_options options);

  /// What a call wants of the file: to read is possible also where it cannot be written.
  enum class access { read, write };

  /// Gives `work` the connection, which is opened and checked first if there is none. False when
  /// the turn did not come. Throws `error`; the connection is given up then, and the next call
  /// opens another.
  bool with_connection(const std::function<void(on_sqlite::file_access&)>& work,
                       access wanted = access::write);

  /// What `work` returns. Throws `error` (unavailable) when the turn did not come.
  auto in_turn(const auto& work, access wanted = access::write) {
    std::optional<decltype(work(std::declval<on_sqlite::file_access&>()))> found;
    if (!with_connection([&](on_sqlite::file_access& file) { found = work(file); }, wanted)) {
      on_sqlite::throw_others_kept_the_file();
    }
    return *std::move(found);
  }

 private:
  struct opened {
    std::unique_ptr<SQLite::Database> database;
    on_sqlite::row_statements rows;
  };

  void check_file_system(const std::string& file) const;

  /// False when others kept the file from being opened.
  bool connect(on_sqlite::busy_wait& wait);

  const sqlite_options options_;
  const std::string path_;
  const sqlite_store::connect factory_;
  timed_mutex mutex_;
  // The rest belongs to whose turn it is.
  std::string where_;
  std::optional<opened> opened_;
  bool schema_is_known_ = false;
};

}  // namespace rowlock::detail

#endif
