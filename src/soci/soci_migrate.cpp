// Brings a database to the schema version of this library, by way of SOCI.
#include "rowlock/soci_migrate.hpp"

#include <soci/soci.h>

#include "rowlock/soci_store.hpp"
#include "soci/store_session.hpp"

namespace rowlock {

std::vector<migration> migrate_soci(const std::string& connection_string, const table_name& table) {
  auto target = through_soci::target_of(connection_string);
  target.parameters = target.spoken->checked(std::move(target.parameters), soci_options{});
  target.spoken->create_database(target.parameters);
  const auto session = through_soci::open(target);
  return target.spoken->migrate(*session, table);
}

std::vector<migration> soci_migrations(const std::string& connection_string,
                                       const table_name& table) {
  return through_soci::target_of(connection_string).spoken->migrations(table);
}

}  // namespace rowlock
