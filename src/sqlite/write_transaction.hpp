// IMMEDIATE transactions that begin in the order of the file's writers.
#ifndef ROWLOCK_SQLITE_WRITE_TRANSACTION_HPP
#define ROWLOCK_SQLITE_WRITE_TRANSACTION_HPP

#include <chrono>
#include <memory>
#include <optional>

#include "rowlock/error.hpp"
#include "rowlock/lock_keys.hpp"
#include "rowlock/refusal.hpp"
#include "rowlock/table_name.hpp"
#include "sqlite/writer_ticket.hpp"

struct sqlite3;

namespace rowlock::on_sqlite {

/// How long a transaction waits for its turn where nobody says.
inline constexpr std::chrono::milliseconds default_turn = std::chrono::seconds{1};

/// Begins one. Null when its turn did not come; otherwise the turn, which is to be kept until the
/// transaction has ended. Throws `error` (misuse) inside another transaction, and `failure`.
std::shared_ptr<write_turn> try_begin(sqlite3* database, std::chrono::milliseconds turn_timeout);

struct locked_transaction {
  /// Why there is none.
  std::optional<refusal> refused = std::nullopt;
  std::shared_ptr<write_turn> turn = nullptr;
};

/// Begins one that holds the rows. A live lease is found by a read before it, which keeps nobody
/// from writing. Throws as `try_begin`.
locked_transaction begin_locked(sqlite3* database, const lock_keys& keys,
                                std::chrono::milliseconds turn_timeout, const table_name& table);

/// For those who cannot be refused.
error turn_did_not_come(sqlite3* database);

/// Commits what `try_begin` has begun. Throws `failure`.
void commit_begun(sqlite3* database);

/// Adds one to the failures of each row; best effort, without waiting.
void count_failure(sqlite3* database, const lock_keys& keys, const table_name& table) noexcept;

}  // namespace rowlock::on_sqlite

#endif
