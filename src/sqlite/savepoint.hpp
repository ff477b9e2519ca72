// A part of a transaction that can be undone alone.
#ifndef ROWLOCK_SQLITE_SAVEPOINT_HPP
#define ROWLOCK_SQLITE_SAVEPOINT_HPP

struct sqlite3;

namespace rowlock::on_sqlite {

/// Thread-safety: as its database, one thread at a time.
class savepoint {
 public:
  /// Throws `failure`.
  explicit savepoint(sqlite3* transaction);
  savepoint(const savepoint&) = delete;
  savepoint& operator=(const savepoint&) = delete;
  /// Undoes what was done since the constructor, unless it was released.
  ~savepoint();

  /// Throws `failure`.
  void release();

 private:
  sqlite3* transaction_;
  bool released_ = false;
};

}  // namespace rowlock::on_sqlite

#endif
