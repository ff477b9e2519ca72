// Brings a SQLite file to the schema version of this library.
#include "rowlock/sqlite_migrate.hpp"

#include <SQLiteCpp/Database.h>
#include <sqlite3.h>

#include <chrono>
#include <exception>
#include <memory>

#include "rowlock/error.hpp"
#include "rowlock/sqlite.hpp"
#include "sql/schema_check.hpp"
#include "sqlite/row_statements.hpp"
#include "sqlite/sqlite_errors.hpp"
#include "sqlite/sqlite_file.hpp"

namespace rowlock {

namespace {

/// Others may be migrating the same file, each for milliseconds.
constexpr std::chrono::seconds longest_wait{30};

void check_schema_name(const table_name& table) {
  const auto dot = table.text().find('.');
  if (dot == std::string::npos || table.text().substr(0, dot) == "main") return;
  throw error{errc::misuse, "a SQLite file has no schema but main: name the table without one"};
}

std::vector<migration> still_missing(SQLite::Database& database, const table_name& table) {
  detail::row_statements rows{database, table};
  return sql::missing_migrations(rows.last_migration(), sqlite_migrations(table), table);
}

void apply(SQLite::Database& database, const migration& step) {
  try {
    database.exec(step.up);
  } catch (const SQLite::Exception& thrown) {
    if (thrown.getErrorCode() != SQLITE_ERROR) throw;
    std::throw_with_nested(error{
        errc::rejected, detail::url_of(database) + ": migration " + std::to_string(step.number) +
                            " cannot be applied (" + thrown.what() +
                            "): tables that are not rowlock's are in the "
                            "way; rename them, or give rowlock's another name"});
  }
}

}  // namespace

std::vector<migration> migrate_sqlite(const std::string& path, const table_name& table) {
  check_schema_name(table);
  detail::create_file(path);
  try {
    detail::patience wait{longest_wait};
    std::unique_ptr<SQLite::Database> database;
    std::vector<migration> missing;
    detail::until_not_busy(wait, [&] {
      database = detail::open_file(path, wait);
      missing = still_missing(*database, table);
    });
    if (missing.empty()) return missing;

    sqlite_transaction applying{*database, longest_wait};
    missing = still_missing(*database, table);  // somebody may have been faster
    for (const auto& step : missing) apply(*database, step);
    applying.commit();
    return missing;
  } catch (const SQLite::Exception& thrown) {
    detail::throw_error(thrown, detail::url_of(path), "look at the tables there");
  }
}

}  // namespace rowlock
