// The one place for a writer that a file has.
#ifndef ROWLOCK_SQLITE_WRITING_HPP
#define ROWLOCK_SQLITE_WRITING_HPP

#include "sqlite/busy_wait.hpp"

struct sqlite3;

namespace rowlock::on_sqlite {

/// Begins an IMMEDIATE transaction; false when somebody else was the writer all the time.
bool begin_immediate(sqlite3* database, patience& wait);

/// Commits. Throws SQLITE_BUSY when readers were in the way all the time (never in WAL mode): the
/// transaction is still open then. In doubt when the disk fails.
void commit(sqlite3* database, patience& wait);

/// Rolls back, unless SQLite itself has ended the transaction already.
void roll_back(sqlite3* database) noexcept;

/// Takes away the application's busy timeout for as long as it lives, because it would make us wait
/// longer than we were told. A busy handler of the application's own stays; it could not be put
/// back.
class without_busy_timeout {
 public:
  explicit without_busy_timeout(sqlite3* database);
  without_busy_timeout(const without_busy_timeout&) = delete;
  without_busy_timeout& operator=(const without_busy_timeout&) = delete;
  ~without_busy_timeout();

 private:
  sqlite3* database_;
  int milliseconds_;
};

}  // namespace rowlock::on_sqlite

#endif
