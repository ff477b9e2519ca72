// Brings a PostgreSQL database to the schema version of this library.
#include "rowlock/postgres_migrate.hpp"

#include <exception>
#include <optional>
#include <pqxx/pqxx>

#include "postgres/conninfo.hpp"
#include "postgres/execute.hpp"
#include "postgres/postgres_connection.hpp"
#include "postgres/postgres_errors.hpp"
#include "rowlock/error.hpp"
#include "rowlock/postgres.hpp"
#include "sql/postgres_statements.hpp"
#include "sql/schema_check.hpp"

namespace rowlock {

namespace {

std::optional<int> schema_version(pqxx::transaction_base& transaction,
                                  const sql::postgres_statements& statements) {
  if (!postgres::execute(transaction, statements.schema_exists)[0][0].as<bool>()) {
    return std::nullopt;
  }
  return postgres::execute(transaction, statements.schema_version)[0][0].as<int>();
}

void apply(pqxx::transaction_base& transaction, const migration& step, const table_name& table) {
  try {
    transaction.exec(step.up);
  } catch (const std::exception& thrown) {
    const auto state = postgres::sqlstate_of(thrown);
    if (state == "42501") {
      std::throw_with_nested(error{
          errc::rejected, "the role of this connection may not create table " + table.text() +
                              ": GRANT CREATE ON SCHEMA ... TO it, or migrate as another role"});
    }
    if (state == "42P07" || state == "42723") {
      std::throw_with_nested(
          error{errc::rejected, "something that rowlock did not make is named " + table.text() +
                                    ": rename it, or give rowlock's table another name"});
    }
    throw;
  }
}

}  // namespace

std::vector<migration> migrate_postgres(const std::string& connection_string,
                                        const table_name& table) {
  const sql::postgres_statements statements{table};
  const auto connection = postgres::connect(postgres::conninfo{connection_string, {}});
  try {
    pqxx::work work{*connection};
    postgres::execute(work, statements.read_committed);
    postgres::execute(work, statements.take_migration_turn);
    auto missing = sql::missing_migrations(schema_version(work, statements),
                                           postgres_migrations(table), table);
    for (const auto& step : missing) apply(work, step, table);
    try {
      work.commit();
    } catch (...) {
      detail::throw_failed_commit();
    }
    return missing;
  } catch (const std::exception&) {
    postgres::throw_as_error(postgres::effects::none, &table);
  }
}

}  // namespace rowlock
