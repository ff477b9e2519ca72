// A transaction that writes: BEGIN IMMEDIATE with a ticket, commit, roll back.
#ifndef ROWLOCK_SQLITE_WRITE_TRANSACTION_HPP
#define ROWLOCK_SQLITE_WRITE_TRANSACTION_HPP

#include <chrono>
#include <memory>
#include <optional>

#include "rowlock/error.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/outcome.hpp"
#include "rowlock/table_name.hpp"
#include "sqlite/busy_wait.hpp"
#include "sqlite/writer_ticket.hpp"

struct sqlite3;

namespace rowlock::sqlite {

/// How long a transaction waits for its turn where nobody says.
inline constexpr std::chrono::milliseconds default_wait = std::chrono::seconds{1};

/// Begins one. Null when its turn did not come; otherwise the turn, which is to be kept until the
/// transaction has ended. Throws `error` (misuse) inside another transaction, and `failure`.
std::shared_ptr<writer_ticket> try_begin(sqlite3* database, std::chrono::milliseconds turn_timeout);

struct locked_transaction {
  /// Why there is none.
  std::optional<refusal> refused = std::nullopt;
  std::shared_ptr<writer_ticket> ticket = nullptr;
};

/// Begins one that holds the rows. A live lease is found by a read before it, which keeps nobody
/// from writing. Throws as `try_begin`.
locked_transaction begin_locked(sqlite3* database, const lock_keys& keys,
                                std::chrono::milliseconds turn_timeout, const table_name& table);

/// For those who cannot be refused.
error file_was_busy(sqlite3* database);

/// Commits what `try_begin` has begun. Throws `failure`.
void commit_begun(sqlite3* database);

/// Adds one to the failures of each row; best effort, without waiting.
void count_failure(sqlite3* database, const lock_keys& keys, const table_name& table) noexcept;

}  // namespace rowlock::sqlite

struct sqlite3;

namespace rowlock::sqlite {

/// Begins an IMMEDIATE transaction; false when somebody else was the writer all the time.
bool begin_immediate(sqlite3* database, busy_wait& wait);

/// Commits. Throws SQLITE_BUSY when readers were in the way all the time (never in WAL mode): the
/// transaction is still open then. In doubt when the disk fails.
void commit(sqlite3* database, busy_wait& wait);

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

}  // namespace rowlock::sqlite

#endif
