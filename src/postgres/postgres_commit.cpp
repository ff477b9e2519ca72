// Optimistic commit in the application's own transaction.
#include <cstdint>
#include <exception>
#include <pqxx/pqxx>
#include <string>
#include <variant>

#include "postgres/caller_transaction.hpp"
#include "postgres/postgres_errors.hpp"
#include "rowlock/error.hpp"
#include "rowlock/postgres.hpp"
#include "sql/versioned_update.hpp"

namespace rowlock {

namespace {

commit_result result_of(const std::optional<pqxx::result>& answered) {
  const bool is_moved = answered && answered->affected_rows() == 1;
  return is_moved ? commit_result::committed : commit_result::stale;
}

std::string text_of(const row_id& id) {
  if (const auto* number = std::get_if<std::int64_t>(&id)) return std::to_string(*number);
  return std::get<std::string>(id);
}

}  // namespace

commit_result try_commit(pqxx::transaction_base& transaction, const lock_key& key, version seen,
                         const table_name& table) {
  check(key);
  return result_of(postgres::caller_transaction{transaction}.execute(
      postgres::statements_for(table).advance,
      postgres::bound_values{key.type, key.source_id, seen.number}, &table));
}

commit_result try_commit(pqxx::transaction_base& transaction, const versioned_table& table,
                         const row_id& id, std::int64_t seen) {
  return result_of(postgres::caller_transaction{transaction}.execute(
      sql::versioned_update(table), postgres::bound_values{text_of(id), seen}, nullptr));
}

void detail::throw_failed_begin() { postgres::throw_as_error(postgres::effects::none, nullptr); }

void detail::throw_failed_commit() {
  try {
    throw;
  } catch (const std::exception& thrown) {
    if (!postgres::is_lost_connection(thrown)) throw;
    std::throw_with_nested(error{errc::outcome_unknown,
                                 "the connection to PostgreSQL was lost during the commit: look "
                                 "whether the work is there before doing it again"});
  }
}

}  // namespace rowlock
