// Locking and reading rows in the application's own pqxx transaction.
#include <chrono>
#include <exception>
#include <utility>

#include "postgres/pqxx/postgres_errors.hpp"
#include "postgres/pqxx/transaction.hpp"
#include "postgres/transaction.hpp"
#include "rowlock/postgres.hpp"

namespace rowlock {

using postgres::pqxx_transaction;

outcome<row_lock> lock_rows(pqxx::transaction_base& transaction, const lock_keys& keys,
                            const wait_policy& wait, const postgres_table& table) {
  pqxx_transaction used{transaction};
  return postgres::lock_rows(used, keys, wait, table);
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
    // Serializable ones may still lose here. The rows are there, then, or the next try makes them.
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

}  // namespace rowlock
