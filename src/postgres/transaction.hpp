// Row locks, versions, fences and migrations in the caller's transaction.
#ifndef ROWLOCK_POSTGRES_TRANSACTION_HPP
#define ROWLOCK_POSTGRES_TRANSACTION_HPP

#include <chrono>
#include <cstdint>
#include <functional>
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
#include "store/lock_attempt.hpp"

namespace rowlock::postgres {

// The functions of the same names in the drivers' public headers. They throw `error`.

outcome<row_lock> lock_rows(transaction_connection& used, const lock_keys& keys,
                            const retry_policy& wait, const postgres_table& table);
outcome<version> read_version(transaction_connection& used, const lock_key& key,
                              const postgres_table& table);
commit_result try_commit(transaction_connection& used, const lock_key& key, version seen,
                         const postgres_table& table);

outcome<void> lock_entity(transaction_connection& used, const entity_table& table, const row_id& id,
                          const retry_policy& wait);
outcome<std::int64_t> read_version(transaction_connection& used, const versioned_table& table,
                                   const row_id& id);
commit_result try_commit(transaction_connection& used, const versioned_table& table,
                         const row_id& id, std::int64_t seen);

using detail::lock_attempt;
using detail::missing_rows;

lock_attempt try_to_lock(transaction_connection& used, const lock_keys& keys,
                         std::chrono::milliseconds slice, const postgres_table& table,
                         missing_rows missing);

/// Creates rows, to be locked afterwards in another transaction. At REPEATABLE READ a row that
/// another transaction inserts meanwhile is a conflict; this transaction can still be committed.
void create_rows(transaction_connection& used, const lock_keys& keys, const postgres_table& table);

void count_failures(transaction_connection& used, const lock_keys& keys,
                    const postgres_table& table);

/// Whether a row of `keys` can be read and not changed: row-level security hides it from changes,
/// or a trigger drops them, and no error reports that. It calls `is_refused`, which tries again,
/// while this transaction has the rows and their gates, so that no other one is in the way; and
/// rolls that back. One round trip where no policy and no trigger can do that. Throws `error`.
bool loses_changes(transaction_connection& used, const key_list& keys, const postgres_table& table,
                   const std::function<bool()>& is_refused);

class caller_transaction {
 public:
  explicit caller_transaction(transaction_connection& used) : connection_{used} {}

  /// Returns the result; none if a concurrent transaction won (40001, 40P01), and then this one can
  /// only be rolled back. Throws `error`. `lock_table` is none for a table of the application,
  /// which is `other_table`.
  std::optional<result_set> execute(const std::string& sql, const bound_values& values,
                                    const table_name* lock_table,
                                    std::string_view other_table = {});

  /// The same, but the driver's exception of such a conflict passes through, for `retry`.
  result_set execute_or_conflict(const std::string& sql, const bound_values& values,
                                 const table_name* lock_table, std::string_view other_table = {});

 private:
  transaction_connection& connection_;
};

/// Throws `error` (misuse) if the server could read the text as another: a text that is not ASCII
/// needs a `client_encoding` of UTF8. No round trip.
void require_same_text(const transaction_connection& used, std::string_view text);
/// The same for each of the keys.
void require_same_keys(const transaction_connection& used, const key_list& keys);

/// `text` for this table, rendered once per process. Throws `error` (misuse) for an invalid
/// clock_skew.
///
/// Thread-safety: may be called from any thread.
const std::string& statement_for(const postgres_table& table, std::string_view text);

/// Whether to return the transaction's name, with which a witness can check its commit.
enum class naming { unwanted, wanted };

struct proof {
  detail::fence_proof of_rows;
  /// Empty unless the leases are held and the name is wanted.
  std::string name;
  /// They are not, because a row can be read and not changed.
  bool loses_changes = false;
};

/// Tries for a moment to fence the transaction, and to write `releases` into the rows: one for each
/// of the leases, in their order. If there are none, the rows stay as they are. If the leases are
/// not held, the caller must end the transaction, and then `throw_lost_changes` if that is why.
/// Throws `error`, and the driver's exception of a conflict.
proof prove(transaction_connection& used, const fenced_leases& leases, const fence_options& options,
            std::span<const release_request> releases, naming name, const table_name& table);

/// Applies the missing migrations and returns them. The transaction must have just begun, and the
/// caller commits it. Throws `error` and the driver's exceptions.
std::vector<migration> migrate(transaction_connection& used, const table_name& table,
                               history_option history);

}  // namespace rowlock::postgres

#endif
