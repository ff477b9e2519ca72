// Brings a PostgreSQL database to the schema version of this library.
#include "postgres/migrate_calls.hpp"

#include <exception>

#include "postgres/sql/statements.hpp"
#include "postgres/table_check.hpp"
#include "rowlock/error.hpp"
#include "store/schema_check.hpp"

namespace rowlock::postgres {

namespace {

void apply(transaction_line& used, const migration& step, const table_name& table) {
  try {
    used.run(step.up);
  } catch (const std::exception& thrown) {
    const auto state = used.fault_in(thrown).sqlstate;
    if (state == "42501") {
      std::throw_with_nested(error{
          errc::rejected, "the role of this connection may not create table " + table.text() +
                              ": GRANT CREATE ON SCHEMA ... TO it, or migrate as another role"});
    }
    if (state == "42P07" || state == "42710" || state == "42723") {
      std::throw_with_nested(
          error{errc::rejected, "something that rowlock did not make is named " + table.text() +
                                    " or " + table.text() +
                                    "_...: rename it, or give rowlock's table another name"});
    }
    throw;
  }
}

}  // namespace

std::vector<migration> migrate(transaction_line& used, const table_name& table) {
  const sql::postgres_statements statements{table};
  used.execute(statements.read_committed);
  used.execute(statements.take_migration_turn);
  const auto found = find_table(used, statements, table);
  auto missing = sql::missing_migrations(found.number, postgres_migrations(table), table);
  if (missing.empty()) require_fit(found, table);
  for (const auto& step : missing) apply(used, step, table);
  return missing;
}

}  // namespace rowlock::postgres
