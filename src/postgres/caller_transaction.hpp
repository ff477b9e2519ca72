// The application's transaction, as far as we use it.
#ifndef ROWLOCK_POSTGRES_CALLER_TRANSACTION_HPP
#define ROWLOCK_POSTGRES_CALLER_TRANSACTION_HPP

#include <optional>
#include <pqxx/pqxx>
#include <string>

#include "postgres/execute.hpp"
#include "rowlock/table_name.hpp"
#include "sql/postgres_statements.hpp"

namespace rowlock::postgres {

/// Nothing is prepared on the application's connection: where a name turned out to be astray, the
/// transaction would be lost.
class caller_transaction {
 public:
  /// Throws `error` (misuse) for a `pqxx::nontransaction` and for a transaction that is over: locks
  /// would end with each statement. No round trip.
  explicit caller_transaction(pqxx::transaction_base& transaction);

  /// The answer; none when a concurrent transaction won (40001, 40P01), and then this one can only
  /// be rolled back. Throws `error`. `lock_table` is none for a table of the application.
  std::optional<pqxx::result> execute(const std::string& sql, const bound_values& values,
                                      const table_name* lock_table);

  /// The same, but the driver's exception of such a conflict passes through, for `retry`.
  pqxx::result execute_or_conflict(const std::string& sql, const bound_values& values,
                                   const table_name* lock_table);

 private:
  pqxx::transaction_base& transaction_;
};

/// Rendered once per table and process.
const sql::postgres_statements& statements_for(const table_name& table);

}  // namespace rowlock::postgres

#endif
