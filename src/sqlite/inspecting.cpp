// The version of SQLite, the schema of a file, and what this process may do with it.
#include "sqlite/inspecting.hpp"

#include <sqlite3.h>

#include <string>
#include <vector>

#include "sqlite/database_file.hpp"
#include "store/unless_rejected.hpp"

namespace rowlock::sqlite {

namespace {

std::vector<int> version_of_sqlite() {
  const int number = sqlite3_libversion_number();  // 3040001 is 3.40.1
  return {number / 1'000'000, number / 1000 % 1000, number % 1000};
}

/// SQLite has no roles: what counts is the file.
std::vector<inspection::missing_right> missing_rights_of(sqlite3* database) {
  if (!is_read_only(database)) return {};
  const std::string right = "write permission to the file and its folder";
  return {{inspection::use::lock, right},
          {inspection::use::fence, right},
          {inspection::use::purge, right}};
}

}  // namespace

inspection inspected(file_access& file, sqlite3* database) {
  inspection found{.product = "SQLite", .version = version_of_sqlite()};
  found.schema = detail::unless_rejected(
      [&] { return file.read([](row_statements& rows) { return rows.last_migration(); }); });
  if (found.schema) found.missing_rights = missing_rights_of(database);
  return found;
}

}  // namespace rowlock::sqlite
