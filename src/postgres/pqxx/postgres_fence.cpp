// Fences in the application's own pqxx transaction.
#include <pqxx/pqxx>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "postgres/fence_calls.hpp"
#include "postgres/pqxx/transaction.hpp"
#include "rowlock/error.hpp"
#include "rowlock/postgres.hpp"

namespace rowlock {

namespace {

using postgres::naming;

/// The name of the transaction, if it is wanted.
std::string prove_or_abort(pqxx::transaction_base& transaction, const fenced_leases& leases,
                           const fence_options& options, std::span<const release_request> releases,
                           naming name, const postgres_table& table) {
  if (dynamic_cast<pqxx::subtransaction*>(&transaction) != nullptr) {
    throw error{
        errc::misuse,
        "a fence inside a pqxx::subtransaction is undone when that is rolled back: fence the "
        "transaction itself"};
  }
  postgres::pqxx_transaction used{transaction};
  auto proved = postgres::prove(used, leases, options, releases, name, table.table);
  if (proved.of_rows.found != detail::fence_try::held) {
    transaction.abort();
    detail::throw_not_proved(leases, proved.of_rows.found);
  }
  detail::released_within(leases, proved.of_rows.unset_as);
  return std::move(proved.name);
}

}  // namespace

void fence(pqxx::transaction_base& transaction, const fenced_leases& leases,
           const fence_options& options, const postgres_table& table) {
  prove_or_abort(transaction, leases, options, {}, naming::unwanted, table);
}

void release_with(pqxx::transaction_base& transaction, const fenced_leases& leases,
                  const release_options& options, const postgres_table& table) {
  prove_or_abort(transaction, leases, {}, detail::to_release(leases, options), naming::unwanted,
                 table);
}

std::string detail::prove_named(pqxx::transaction_base& transaction, const fenced_leases& leases,
                                const fenced_run_options& options, const postgres_table& table) {
  std::vector<release_request> releases;
  if (options.release) releases = to_release(leases, options.released_as);
  return prove_or_abort(transaction, leases, options.release ? fence_options{} : options.fence,
                        releases, naming::wanted, table);
}

}  // namespace rowlock
