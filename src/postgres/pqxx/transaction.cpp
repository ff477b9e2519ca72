// The application's pqxx transaction, as a line.
#include "postgres/pqxx/transaction.hpp"

#include "postgres/pqxx/execute.hpp"
#include "postgres/pqxx/postgres_errors.hpp"
#include "postgres/server_version.hpp"
#include "rowlock/error.hpp"
#include "rowlock/postgres.hpp"
#include "rowlock/retry.hpp"

namespace rowlock {

void detail::recognise_postgres_conflicts() noexcept {
  recognise_conflicts(
      [](const std::exception& thrown) { return postgres::fault_in(thrown).is_conflict(); });
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

pqxx_transaction::pqxx_transaction(pqxx::transaction_base& transaction)
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
  refuse_old(transaction.conn().server_version());
}

answer pqxx_transaction::execute(const std::string& sql, const bound_values& values) {
  try {
    return postgres::execute(transaction_, sql, values);
  } catch (const std::exception& thrown) {
    // libpqxx 6 would connect again at the next statement, and run the rest without a transaction.
    if (fault_in(thrown).is_lost_connection()) transaction_.abort();
    throw;
  }
}

std::string pqxx_transaction::encoding() const { return transaction_.conn().get_client_encoding(); }

void pqxx_transaction::run(const std::string& script) { transaction_.exec(script); }

fault pqxx_transaction::fault_in(const std::exception& thrown) const {
  return postgres::fault_in(thrown);
}

}  // namespace rowlock::postgres

namespace rowlock {

// libpqxx sees to it that a second commit does nothing, and that one after an abort throws. Its
// transactions cannot be kept from committing: from 7.0 on no class can be derived from them.
bool detail::was_aborted(pqxx::transaction_base& transaction) {
  if (postgres::is_in_transaction(transaction) || !transaction.conn().is_open()) return false;
  try {
    transaction.commit();
  } catch (const pqxx::usage_error&) {
    return true;
  }
  throw_commit_in_callback();
}

}  // namespace rowlock
