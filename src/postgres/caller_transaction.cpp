// The application's transaction, as far as we use it.
#include "postgres/caller_transaction.hpp"

#include <exception>
#include <map>
#include <mutex>

#include "postgres/postgres_errors.hpp"
#include "rowlock/error.hpp"
#include "rowlock/postgres.hpp"
#include "rowlock/retry.hpp"

namespace rowlock {

void detail::recognise_postgres_conflicts() noexcept {
  recognise_conflicts(&postgres::is_conflict);
}

}  // namespace rowlock

namespace rowlock::postgres {

namespace {

/// Whether a transaction is open on the connection. libpqxx does not look before it executes a
/// statement with values: after a commit or an abort that would run in autocommit, and lock
/// nothing.
bool is_in_transaction(pqxx::transaction_base& transaction) {
  try {
    const pqxx::nontransaction probe{transaction.conn()};  // at most one at a time, says libpqxx
    return false;
  } catch (const pqxx::usage_error&) {
    return true;
  }
}

}  // namespace

caller_transaction::caller_transaction(pqxx::transaction_base& transaction)
    : transaction_{transaction} {
  detail::recognise_postgres_conflicts();
  if (dynamic_cast<pqxx::nontransaction*>(&transaction) != nullptr) {
    throw error{errc::misuse,
                "a pqxx::nontransaction commits each statement by itself: use a pqxx::work, or "
                "another pqxx::transaction"};
  }
  if (!is_in_transaction(transaction)) {
    throw error{errc::misuse,
                "the transaction is over, committed or rolled back: begin another one"};
  }
}

std::optional<pqxx::result> caller_transaction::execute(const std::string& sql,
                                                        const bound_values& values,
                                                        const table_name* lock_table) {
  try {
    return execute_or_conflict(sql, values, lock_table);
  } catch (const std::exception& thrown) {
    if (is_conflict(thrown)) return std::nullopt;
    throw;
  }
}

pqxx::result caller_transaction::execute_or_conflict(const std::string& sql,
                                                     const bound_values& values,
                                                     const table_name* lock_table) {
  try {
    return postgres::execute(transaction_, sql, values);
  } catch (const std::exception& thrown) {
    if (is_conflict(thrown)) throw;
    // libpqxx 6 would connect again at the next statement, and run the rest without a transaction.
    if (is_lost_connection(thrown)) transaction_.abort();
    throw_as_error(effects::none, lock_table);
  }
}

const sql::postgres_statements& statements_for(const table_name& table) {
  static std::mutex mutex;
  static std::map<std::string, sql::postgres_statements> rendered;  // guarded by mutex
  const std::scoped_lock lock{mutex};
  const auto found = rendered.find(table.text());
  if (found != rendered.end()) return found->second;
  return rendered.emplace(table.text(), table).first->second;
}

}  // namespace rowlock::postgres
