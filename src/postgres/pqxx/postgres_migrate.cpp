// Brings a PostgreSQL database to the schema version of this library.
#include "rowlock/postgres_migrate.hpp"

#include <exception>
#include <pqxx/pqxx>

#include "postgres/connecting.hpp"
#include "postgres/migrate_calls.hpp"
#include "postgres/pqxx/connection.hpp"
#include "postgres/pqxx/postgres_errors.hpp"
#include "postgres/pqxx/transaction.hpp"
#include "rowlock/postgres.hpp"

namespace rowlock {

std::vector<migration> migrate_postgres(const std::string& connection_string,
                                        const table_name& table) {
  const auto connection = postgres::connect(postgres::conninfo{connection_string, {}});
  try {
    pqxx::work work{*connection};
    postgres::pqxx_transaction used{work};
    auto missing = postgres::migrate(used, table);
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
