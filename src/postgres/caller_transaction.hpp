// The application's transaction, as far as we use it.
#ifndef ROWLOCK_POSTGRES_CALLER_TRANSACTION_HPP
#define ROWLOCK_POSTGRES_CALLER_TRANSACTION_HPP

#include <optional>
#include <string>
#include <string_view>

#include "postgres/connection.hpp"
#include "postgres/key_list.hpp"
#include "postgres/sql/statements.hpp"
#include "rowlock/postgres_table.hpp"

namespace rowlock::postgres {

class caller_transaction {
 public:
  explicit caller_transaction(transaction_line& used) : line_{used} {}

  /// The answer; none when a concurrent transaction won (40001, 40P01), and then this one can only
  /// be rolled back. Throws `error`. `lock_table` is none for a table of the application, which
  /// is `other_table`.
  std::optional<answer> execute(const std::string& sql, const bound_values& values,
                                const table_name* lock_table, std::string_view other_table = {});

  /// The same, but the driver's exception of such a conflict passes through, for `retry`.
  answer execute_or_conflict(const std::string& sql, const bound_values& values,
                             const table_name* lock_table, std::string_view other_table = {});

 private:
  transaction_line& line_;
};

/// Throws `error` (misuse) where the server would take one of the keys for another: those that are
/// not ASCII need a `client_encoding` of UTF8. No round trip.
void require_same_keys(const transaction_line& used, const key_list& keys);

/// Rendered once per table and process. Throws `error` (misuse) for a clock_skew that cannot be.
const sql::postgres_statements& statements_for(const postgres_table& table,
                                               bool asynchronous_release = false);

}  // namespace rowlock::postgres

#endif
