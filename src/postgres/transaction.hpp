// Locking, reading and committing against rows in the application's transaction on PostgreSQL.
#ifndef ROWLOCK_POSTGRES_TRANSACTION_HPP
#define ROWLOCK_POSTGRES_TRANSACTION_HPP

#include <chrono>
#include <cstdint>
#include <optional>

#include "postgres/connection.hpp"
#include "rowlock/lock_keys.hpp"
#include "rowlock/outcome.hpp"
#include "rowlock/postgres_table.hpp"
#include "rowlock/refusal.hpp"
#include "rowlock/retry_policy.hpp"
#include "rowlock/row_lock.hpp"
#include "rowlock/version.hpp"
#include "rowlock/versioned_table.hpp"

namespace rowlock::postgres {

// What the public headers of the drivers promise of the functions of these names. They throw
// `error`.

outcome<row_lock> lock_rows(transaction_line& used, const lock_keys& keys, const retry_policy& wait,
                            const postgres_table& table);
outcome<version> read_version(transaction_line& used, const lock_key& key,
                              const postgres_table& table);
commit_result try_commit(transaction_line& used, const lock_key& key, version seen,
                         const postgres_table& table);
commit_result try_commit(transaction_line& used, const versioned_table& table, const row_id& id,
                         std::int64_t seen);

/// Locked; or refused; or neither, when a row is missing and was not to be created.
struct lock_attempt {
  std::optional<row_lock> locked;
  std::optional<refusal> refused;
};

enum class missing_rows { report, create };

lock_attempt try_to_lock(transaction_line& used, const lock_keys& keys,
                         std::chrono::milliseconds slice, const postgres_table& table,
                         missing_rows missing);

/// So that they can be locked afterwards, in another transaction. At REPEATABLE READ a row that
/// somebody inserts meanwhile is a conflict: the transaction can be committed then too.
void create_rows(transaction_line& used, const lock_keys& keys, const postgres_table& table);

void count_failures(transaction_line& used, const lock_keys& keys, const postgres_table& table);

}  // namespace rowlock::postgres

#endif
