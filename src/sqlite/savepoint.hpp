// A savepoint in a transaction.
#ifndef ROWLOCK_SQLITE_SAVEPOINT_HPP
#define ROWLOCK_SQLITE_SAVEPOINT_HPP

#include "sqlite/sql/transactions.hpp"
#include "sqlite/statement.hpp"

namespace rowlock::sqlite {

/// Makes several statements all or nothing.
///
/// Thread-safety: as the database, one thread at a time.
class savepoint {
 public:
  /// Throws `failure`.
  explicit savepoint(sqlite3* transaction) : transaction_{transaction} {
    execute(transaction_, sql::set_savepoint);
  }
  savepoint(const savepoint&) = delete;
  savepoint& operator=(const savepoint&) = delete;
  /// Undoes what was done since the constructor, unless `release` was called.
  ~savepoint() {
    if (released_) return;
    try {
      execute(transaction_, sql::undo_savepoint);
    } catch (...) {  // SQLite has rolled back the whole transaction, or there is no memory
    }
  }

  /// Throws `failure`.
  void release() {
    execute(transaction_, sql::release_savepoint);
    released_ = true;
  }

 private:
  sqlite3* transaction_;
  bool released_ = false;
};

}  // namespace rowlock::sqlite

#endif
