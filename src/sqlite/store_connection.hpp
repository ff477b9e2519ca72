// The connection of a store, and who may use it.
#ifndef ROWLOCK_SQLITE_STORE_CONNECTION_HPP
#define ROWLOCK_SQLITE_STORE_CONNECTION_HPP

#include <SQLiteCpp/Database.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "rowlock/sqlite_store.hpp"
#include "rowlock/turns.hpp"
#include "sqlite/patience.hpp"
#include "sqlite/row_statements.hpp"

namespace rowlock::detail {

/// One call's turn at the connection. What is done in it may be done again when it met somebody
/// else who uses the file, and so must bear repeating.
class file_turn {
 public:
  using work = std::function<void(row_statements&)>;

  file_turn(SQLite::Database& database, row_statements& rows, patience& wait) noexcept
      : database_{database}, rows_{rows}, wait_{wait} {}

  /// False when it could not be done before the patience was over.
  bool read(const work& reading);
  /// The same, as the first in the queue of the file's writers, and in a transaction if there is
  /// more than one statement. All of it is committed, or nothing.
  bool write(std::size_t statements, const work& writing);

 private:
  SQLite::Database& database_;
  row_statements& rows_;
  patience& wait_;
};

/// Thread-safety: all members may be called from any thread; they take turns.
class store_connection {
 public:
  store_connection(std::string path, sqlite_options options);
  store_connection(sqlite_store::connect factory, sqlite_options options);

  /// Gives `work` the connection, which is opened and checked first if there is none. False when
  /// the turn did not come. Throws `error`; the connection is given up then, and the next call
  /// opens another.
  bool take_turn(const std::function<void(file_turn&)>& work);

  /// Reads. Throws `error` (unavailable) when it could not be done in time.
  void read(const file_turn::work& reading);

 private:
  struct opened {
    std::unique_ptr<SQLite::Database> database;
    row_statements rows;
  };

  void check_file_system(const std::string& file) const;

  /// False when others kept the file from being opened.
  bool connect(patience& wait);

  const sqlite_options options_;
  const std::string path_;
  const sqlite_store::connect factory_;
  turns turns_;
  // The rest belongs to whose turn it is.
  std::string where_;
  std::optional<opened> opened_;
  bool schema_is_known_ = false;
};

}  // namespace rowlock::detail

#endif
