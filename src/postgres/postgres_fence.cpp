// Fences in the application's own pqxx transaction.
#include <pqxx/pqxx>
#include <string>

#include "dialects/postgres/fence_calls.hpp"
#include "postgres/pqxx_transaction.hpp"
#include "rowlock/error.hpp"
#include "rowlock/postgres.hpp"

namespace rowlock {

namespace {

using postgres::naming;

postgres::pqxx_transaction at_top_level(pqxx::transaction_base& transaction) {
  if (dynamic_cast<pqxx::subtransaction*>(&transaction) != nullptr) {
    throw error{
        errc::misuse,
        "a fence inside a pqxx::subtransaction is undone when that is rolled back: fence the "
        "transaction itself"};
  }
  return postgres::pqxx_transaction{transaction};
}

}  // namespace

void fence(pqxx::transaction_base& transaction, const fenced_leases& leases,
           const fence_options& options, const table_name& table) {
  auto used = at_top_level(transaction);
  postgres::fence(used, leases, options, naming::unwanted, table);
}

void release_with(pqxx::transaction_base& transaction, const fenced_leases& leases,
                  const table_name& table) {
  auto used = at_top_level(transaction);
  postgres::release_with(used, leases, naming::unwanted, table);
}

std::string detail::prove_named(pqxx::transaction_base& transaction, const fenced_leases& leases,
                                const fenced_run_options& options, const table_name& table) {
  auto used = at_top_level(transaction);
  return options.release ? postgres::release_with(used, leases, naming::wanted, table)
                         : postgres::fence(used, leases, options.fence, naming::wanted, table);
}

}  // namespace rowlock
