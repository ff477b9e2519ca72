// Brings a SQLite file to the schema version of this library.
#include "rowlock/sqlite_migrate.hpp"

#include <SQLiteCpp/Database.h>

#include "sqlite/database_file.hpp"
#include "sqlite/migrate.hpp"
#include "sqlite/sqlitecpp/errors.hpp"
#include "sqlite/sqlitecpp/open_file.hpp"

namespace rowlock {

std::vector<migration> migrate_sqlite(const std::string& path, const table_name& table) {
  on_sqlite::check_schema_name(table);
  on_sqlite::create_file(path);
  try {
    const auto database = detail::open_file(path);
    return on_sqlite::migrate(database->getHandle(), table);
  } catch (const on_sqlite::failure& failed) {
    detail::throw_as_error(failed, on_sqlite::url_of(path), on_sqlite::look_at_the_tables);
  }
}

}  // namespace rowlock
