// Row locks, versions, fences and migrations in the caller's transaction.
#ifndef ROWLOCK_POSTGRES_TRANSACTION_HPP
#define ROWLOCK_POSTGRES_TRANSACTION_HPP

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "postgres/connection.hpp"
#include "postgres/values.hpp"
#include "rowlock/fence.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/outcome.hpp"
#include "rowlock/port/store.hpp"
#include "rowlock/retry.hpp"
#include "rowlock/row_lock.hpp"
#include "rowlock/table_name.hpp"

namespace rowlock::postgres {

// What the public headers of the drivers promise of the functions of these names. They throw
// `error`.

outcome<row_lock> lock_rows(transaction_connection& used, const lock_keys& keys,
                            const retry_policy& wait, const postgres_table& table);
outcome<version> read_version(transaction_connection& used, const lock_key& key,
                              const postgres_table& table);
commit_result try_commit(transaction_connection& used, const lock_key& key, version seen,
                         const postgres_table& table);
commit_result try_commit(transaction_connection& used, const versioned_table& table,
                         const row_id& id, std::int64_t seen);

/// Locked; or refused; or neither, when a row is missing and was not to be created.
struct lock_attempt {
  std::optional<row_lock> locked;
  std::optional<refusal> refused;
};

enum class missing_rows { report, create };

lock_attempt try_to_lock(transaction_connection& used, const lock_keys& keys,
                         std::chrono::milliseconds slice, const postgres_table& table,
                         missing_rows missing);

/// So that they can be locked afterwards, in another transaction. At REPEATABLE READ a row that
/// somebody inserts meanwhile is a conflict: the transaction can be committed then too.
void create_rows(transaction_connection& used, const lock_keys& keys, const postgres_table& table);

void count_failures(transaction_connection& used, const lock_keys& keys,
                    const postgres_table& table);

class caller_transaction {
 public:
  explicit caller_transaction(transaction_connection& used) : connection_{used} {}

  /// The answer; none when a concurrent transaction won (40001, 40P01), and then this one can only
  /// be rolled back. Throws `error`. `lock_table` is none for a table of the application, which
  /// is `other_table`.
  std::optional<result_set> execute(const std::string& sql, const bound_values& values,
                                    const table_name* lock_table,
                                    std::string_view other_table = {});

  /// The same, but the driver's exception of such a conflict passes through, for `retry`.
  result_set execute_or_conflict(const std::string& sql, const bound_values& values,
                                 const table_name* lock_table, std::string_view other_table = {});

 private:
  transaction_connection& connection_;
};

/// Throws `error` (misuse) where the server would take one of the keys for another: those that are
/// not ASCII need a `client_encoding` of UTF8. No round trip.
void require_same_keys(const transaction_connection& used, const key_list& keys);

/// `text` for this table, rendered once in a process. Throws `error` (misuse) for a clock_skew that
/// cannot be. Thread-safety: any thread.
const std::string& statement_for(const postgres_table& table, std::string_view text);

/// Whether to tell the name of the transaction, for one who may have to ask about its commit.
enum class naming { unwanted, wanted };

struct proof {
  detail::fence_proof of_rows;
  /// Where it is held and the name is wanted.
  std::string name;
};

/// Tries for a moment to fence the transaction, and to write `releases` into the rows: one for each
/// of the leases in their order, or none, and then the rows stay. Where the leases are not held the
/// caller has to end it. Throws `error`, and the driver's exception of a conflict.
proof prove(transaction_connection& used, const fenced_leases& leases, const fence_options& options,
            std::span<const release_request> releases, naming name, const table_name& table);

/// Applies what is missing, in a transaction that has just begun and that the caller commits; what
/// was applied. Throws `error` and what the driver throws.
std::vector<migration> migrate(transaction_connection& used, const table_name& table);

}  // namespace rowlock::postgres

#endif
