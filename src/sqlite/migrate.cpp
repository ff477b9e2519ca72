// The migration of a SQLite file to the schema version of this library.
#include "sqlite/migrate.hpp"

#include <sqlite3.h>

#include <chrono>
#include <exception>
#include <string>

#include "rowlock/error.hpp"
#include "sqlite/database_file.hpp"
#include "sqlite/row_statements.hpp"
#include "sqlite/table_check.hpp"
#include "sqlite/write_transaction.hpp"
#include "store/schema_check.hpp"

namespace rowlock::sqlite {

namespace {

/// Other processes may be migrating the same file, each for milliseconds.
constexpr std::chrono::seconds longest_wait{30};

std::vector<migration> still_missing(sqlite3* database, const table_name& table) {
  row_statements rows{database, table};
  return detail::missing_migrations(rows.last_migration(), sqlite_migrations(table), table);
}

error in_the_way_of(const migration& step, sqlite3* database, const std::string& why) {
  return error{errc::rejected, url_of(database) + ": migration " + std::to_string(step.number) +
                                   " cannot be applied (" + why +
                                   "): tables that are not rowlock's are in the "
                                   "way; rename them, or give rowlock's another name"};
}

void apply(sqlite3* database, const migration& step, const table_name& table) {
  // A table that exists already is left as it is.
  if (const auto wrong = what_is_wrong_with(database, table)) {
    throw in_the_way_of(step, database, "table " + table.text() + " already exists, and " + *wrong);
  }
  try {
    execute(database, step.up);
  } catch (const failure& thrown) {
    if (thrown.code() != SQLITE_ERROR) throw;
    std::throw_with_nested(in_the_way_of(step, database, thrown.what()));
  }
}

}  // namespace

void check_schema_name(const table_name& table) {
  const auto dot = table.text().find('.');
  if (dot == std::string::npos || table.text().substr(0, dot) == "main") return;
  throw error{errc::misuse, "a SQLite file has no schema but main: name the table without one"};
}

std::vector<migration> migrate(sqlite3* database, const table_name& table) {
  busy_wait wait{longest_wait};
  bool is_complete = false;
  until_not_busy(wait, [&] {
    require_writable(database);
    prepare_connection(database);
    switch_to_wal(database, wait);
    is_complete = still_missing(database, table).empty();
  });
  if (is_complete) {
    if (const auto wrong = what_is_wrong_with(database, table)) detail::throw_unfit(table, *wrong);
    return {};
  }

  const auto ticket = try_begin(database, longest_wait);
  if (!ticket) throw file_was_busy(database);
  try {
    auto missing = still_missing(database, table);  // another process may have been faster
    for (const auto& step : missing) apply(database, step, table);
    commit_begun(database);
    return missing;
  } catch (...) {
    roll_back(database);
    throw;
  }
}

}  // namespace rowlock::sqlite
