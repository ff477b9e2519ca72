// The compare-and-set on a row of the application.
#include "store/versioned_update.hpp"

#include "store/names.hpp"

namespace rowlock::sql {

std::string versioned_update(const versioned_table& table) {
  const std::string name = quoted_with_schema(table.table, "the application's table");
  const std::string id = quoted(table.id_column, "the id column");
  const std::string version = quoted(table.version_column, "the version column");
  // With the alias, because SQLite takes a lone "name" for a text where there is no such column.
  return "UPDATE " + name + " AS entity SET " + version + " = entity." + version +
         " + 1 WHERE entity." + id + " = $1 AND entity." + version + " = $2";
}

}  // namespace rowlock::sql
