// The application's transaction, as far as we use it.
#ifndef ROWLOCK_SQLITE_CALLER_TRANSACTION_HPP
#define ROWLOCK_SQLITE_CALLER_TRANSACTION_HPP

struct sqlite3;

namespace rowlock::on_sqlite {

/// Seen on the connection, without touching the file.
bool is_in_transaction(sqlite3* database) noexcept;

/// Throw `error` (misuse), seen on the connection without touching the file.
void require_transaction(sqlite3* database);
void require_immediate_transaction(sqlite3* database);

}  // namespace rowlock::on_sqlite

#endif
