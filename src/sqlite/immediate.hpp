// BEGIN IMMEDIATE, COMMIT and ROLLBACK.
#ifndef ROWLOCK_SQLITE_IMMEDIATE_HPP
#define ROWLOCK_SQLITE_IMMEDIATE_HPP

#include "sqlite/busy_wait.hpp"

struct sqlite3;

namespace rowlock::sqlite {

/// Begins an IMMEDIATE transaction; false if another one was the writer until `wait` was over.
bool begin_immediate(sqlite3* database, busy_wait& wait);

/// Commits. Throws SQLITE_BUSY if readers were in the way until `wait` was over (never in WAL
/// mode): then the transaction is still open. In doubt if the disk fails.
void commit(sqlite3* database, busy_wait& wait);

/// Rolls back, unless SQLite has already ended the transaction.
void roll_back(sqlite3* database) noexcept;

/// Disables the application's busy timeout during its lifetime, because it would make a call wait
/// longer than its own limit. A busy handler of the application stays: it could not be put back.
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

}  // namespace rowlock::sqlite

#endif
