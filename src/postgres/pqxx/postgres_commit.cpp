// Optimistic commit in the application's own pqxx transaction.
#include <cstdint>
#include <exception>

#include "postgres/pqxx/postgres_errors.hpp"
#include "postgres/pqxx/transaction.hpp"
#include "postgres/transaction.hpp"
#include "rowlock/postgres.hpp"

namespace rowlock {

commit_result try_commit(pqxx::transaction_base& transaction, const lock_key& key, version seen,
                         const postgres_table& table) {
  check(key);
  postgres::pqxx_transaction used{transaction};
  return postgres::try_commit(used, key, seen, table);
}

commit_result try_commit(pqxx::transaction_base& transaction, const versioned_table& table,
                         const row_id& id, std::int64_t seen) {
  postgres::pqxx_transaction used{transaction};
  return postgres::try_commit(used, table, id, seen);
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
