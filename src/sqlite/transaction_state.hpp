// Whether a transaction is open on a connection.
#ifndef ROWLOCK_SQLITE_TRANSACTION_STATE_HPP
#define ROWLOCK_SQLITE_TRANSACTION_STATE_HPP

struct sqlite3;

namespace rowlock::sqlite {

/// Read from the connection, without touching the file.
bool is_in_transaction(sqlite3* database) noexcept;

/// Throw `error` (misuse), without touching the file. Throw as `note_open`.
void require_transaction(sqlite3* database);
void require_immediate_transaction(sqlite3* database);

}  // namespace rowlock::sqlite

#endif
