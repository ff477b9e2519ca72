// Write transactions of the application: with a ticket, and with locked rows.
#ifndef ROWLOCK_SQLITE_WRITE_TRANSACTION_HPP
#define ROWLOCK_SQLITE_WRITE_TRANSACTION_HPP

#include <chrono>
#include <memory>
#include <optional>

#include "rowlock/error.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/outcome.hpp"
#include "rowlock/table_name.hpp"
#include "sqlite/writer_ticket.hpp"

struct sqlite3;

namespace rowlock::sqlite {

/// How long a transaction waits by default to become the writer.
inline constexpr std::chrono::milliseconds default_wait = std::chrono::seconds{1};

/// Begins a write transaction. Returns its ticket, which the caller keeps until the transaction has
/// ended; null if it did not become the writer in time. Throws `error` (misuse) inside another
/// transaction, and as `note_open`.
std::shared_ptr<writer_ticket> try_begin(sqlite3* database, std::chrono::milliseconds turn_timeout);

struct locked_transaction {
  /// Why no transaction is open.
  std::optional<refusal> refused = std::nullopt;
  std::shared_ptr<writer_ticket> ticket = nullptr;
};

/// Begins a transaction that holds the rows. Live leases are found by a read before it, which does
/// not block writers. Throws as `try_begin`.
locked_transaction begin_locked(sqlite3* database, const lock_keys& keys,
                                std::chrono::milliseconds turn_timeout, const table_name& table);

/// For callers that cannot be refused.
error file_was_busy(sqlite3* database);

/// Commits a transaction of `try_begin`. Throws `failure`.
void commit_begun(sqlite3* database);

/// Adds 1 to failure_count of each row; best effort, without waiting.
void count_failure(sqlite3* database, const lock_keys& keys, const table_name& table) noexcept;

}  // namespace rowlock::sqlite

#endif
