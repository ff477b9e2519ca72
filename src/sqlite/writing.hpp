// The one place for a writer that a file has.
#ifndef ROWLOCK_SQLITE_WRITING_HPP
#define ROWLOCK_SQLITE_WRITING_HPP

#include "sqlite/patience.hpp"

namespace SQLite {
class Database;
}

namespace rowlock::detail {

/// Begins an IMMEDIATE transaction; false when somebody else was the writer all the time.
bool begin_immediate(SQLite::Database& database, patience& wait);

/// Commits. Throws SQLITE_BUSY when readers were in the way all the time (never in WAL mode): the
/// transaction is still open then. Throws `error` (outcome_unknown) when the disk fails.
void commit(SQLite::Database& database, patience& wait);

/// Rolls back, unless SQLite itself has ended the transaction already.
void roll_back(SQLite::Database& database) noexcept;

/// Takes away the application's busy timeout for as long as it lives, because it would make us wait
/// longer than we were told. A busy handler of the application's own stays; it could not be put
/// back.
class without_busy_timeout {
 public:
  explicit without_busy_timeout(SQLite::Database& database);
  without_busy_timeout(const without_busy_timeout&) = delete;
  without_busy_timeout& operator=(const without_busy_timeout&) = delete;
  ~without_busy_timeout();

 private:
  SQLite::Database& database_;
  int milliseconds_;
};

}  // namespace rowlock::detail

#endif
