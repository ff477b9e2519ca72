// Row locks, fences and commits in the caller's pqxx transaction.
#include "postgres/pqxx/transaction.hpp"

#include <libpq-fe.h>

#include <chrono>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/reported.hpp"
#include "postgres/connecting.hpp"
#include "postgres/pqxx/connection.hpp"
#include "postgres/transaction.hpp"
#include "rowlock/error.hpp"
#include "rowlock/postgres.hpp"
#include "rowlock/retry.hpp"
#include "store/entity_sql.hpp"

namespace rowlock {

void detail::recognise_postgres_conflicts() noexcept {
  recognise_conflicts(
      [](const std::exception& thrown) { return postgres::fault_in(thrown).is_conflict(); });
}

}  // namespace rowlock

namespace rowlock::postgres {

namespace {

/// Whether the server has no transaction open. libpqxx does not check that before it executes a
/// statement with values. After a commit or an abort the statement would run in autocommit, and
/// lock nothing.
bool is_over(pqxx::transaction_base& transaction) {
  return PQtransactionStatus(handle_of(transaction.conn())) == PQTRANS_IDLE;
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
  if (is_over(transaction)) {
    throw error{errc::misuse,
                "the transaction is over, committed or rolled back: begin another one"};
  }
  refuse_old(transaction.conn().server_version());
}

result_set pqxx_transaction::execute(const std::string& sql, const bound_values& values) {
  try {
    return postgres::execute(transaction_, sql, values);
  } catch (const std::exception& thrown) {
    // libpqxx 6 would reconnect at the next statement, and run the rest without a transaction.
    if (fault_in(thrown).is_lost_connection()) transaction_.abort();
    throw;
  }
}

std::string pqxx_transaction::encoding() const { return transaction_.conn().get_client_encoding(); }

result_set pqxx_transaction::run(const std::string& script) {
  return postgres::run(transaction_, script);
}

fault pqxx_transaction::fault_in(const std::exception& thrown) const {
  return postgres::fault_in(thrown);
}

}  // namespace rowlock::postgres

namespace rowlock {

void detail::lend_to_callback(pqxx::transaction_base& transaction) noexcept {
  postgres::watch_for_aborts(transaction.conn());
}

// In libpqxx a second commit does nothing, and a commit after an abort throws. Its transactions
// cannot be kept from committing: from 7.0 on no class can be derived from them.
bool detail::was_aborted(pqxx::transaction_base& transaction) {
  auto* const used = postgres::handle_of(transaction.conn());
  if (PQtransactionStatus(used) == PQTRANS_INERROR) postgres::throw_aborted_before();
  if (!postgres::is_over(transaction)) return false;
  try {
    transaction.commit();
  } catch (const pqxx::usage_error&) {
    if (postgres::was_aborted_by_driver(transaction.conn())) postgres::throw_aborted_before();
    return true;
  }
  throw_commit_in_callback();
}

using postgres::pqxx_transaction;

outcome<row_lock> lock_rows(pqxx::transaction_base& transaction, const lock_keys& keys,
                            const wait_policy& wait, const postgres_table& table) {
  pqxx_transaction used{transaction};
  return detail::reported_lock(keys, [&] { return postgres::lock_rows(used, keys, wait, table); });
}

outcome<version> read_version(pqxx::transaction_base& transaction, const lock_key& key,
                              const postgres_table& table) {
  check(key);
  pqxx_transaction used{transaction};
  return postgres::read_version(used, key, table);
}

namespace detail {

postgres_attempt lock_existing_rows(pqxx::transaction_base& transaction, const lock_keys& keys,
                                    std::chrono::milliseconds slice, const postgres_table& table) {
  pqxx_transaction used{transaction};
  auto tried = postgres::try_to_lock(used, keys, slice, table, postgres::missing_rows::report);
  return {std::move(tried.locked), std::move(tried.refused)};
}

void create_rows(pqxx::transaction_base& transaction, const lock_keys& keys,
                 const postgres_table& table) {
  pqxx_transaction used{transaction};
  postgres::create_rows(used, keys, table);
  try {
    transaction.commit();
  } catch (const std::exception& thrown) {
    // A serializable transaction may still fail here. Then the rows exist, or the next try creates
    // them.
    if (!postgres::fault_in(thrown).is_conflict()) {
      postgres::throw_as_error(postgres::effects::none, &table.table);
    }
  }
}

void count_failures(pqxx::transaction_base& transaction, const lock_keys& keys,
                    const postgres_table& table) {
  pqxx_transaction used{transaction};
  postgres::count_failures(used, keys, table);
}

}  // namespace detail

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
    if (proved.loses_changes) postgres::throw_lost_changes(table.table);
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

commit_result try_commit(pqxx::transaction_base& transaction, const lock_key& key, version seen,
                         const postgres_table& table) {
  check(key);
  postgres::pqxx_transaction used{transaction};
  return detail::reported_commit(key, [&] { return postgres::try_commit(used, key, seen, table); });
}

outcome<void> lock_entity(pqxx::transaction_base& transaction, const entity_table& table,
                          const row_id& id, const wait_policy& wait) {
  postgres::pqxx_transaction used{transaction};
  return detail::reported_lock(table, id,
                               [&] { return postgres::lock_entity(used, table, id, wait); });
}

outcome<std::int64_t> read_version(pqxx::transaction_base& transaction,
                                   const versioned_table& table, const row_id& id) {
  postgres::pqxx_transaction used{transaction};
  return postgres::read_version(used, table, id);
}

commit_result try_commit(pqxx::transaction_base& transaction, const versioned_table& table,
                         const row_id& id, std::int64_t seen) {
  postgres::pqxx_transaction used{transaction};
  return detail::reported_commit(table, id,
                                 [&] { return postgres::try_commit(used, table, id, seen); });
}

void detail::throw_failed_begin() { postgres::throw_as_error(postgres::effects::none, nullptr); }

void detail::throw_failed_commit() {
  try {
    throw;
  } catch (const std::exception& thrown) {
    postgres::throw_failed_commit(postgres::fault_in(thrown));
  }
}

}  // namespace rowlock
