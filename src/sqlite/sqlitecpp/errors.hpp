// The conversion of SQLite::Exception from and to errors; opening a file.
#ifndef ROWLOCK_SQLITE_SQLITECPP_ERRORS_HPP
#define ROWLOCK_SQLITE_SQLITECPP_ERRORS_HPP

#include <SQLiteCpp/Database.h>

#include <memory>
#include <string>

#include "rowlock/table_name.hpp"
#include "sqlite/database_file.hpp"
#include "sqlite/failure.hpp"
#include "store/schema_check.hpp"

namespace rowlock::detail {

/// Makes `retry` recognise the conflicts among SQLiteCpp's exceptions. Cheap, any number of times.
void recognise_sqlite_conflicts() noexcept;

/// Throws the exception that SQLiteCpp would have thrown for `failed`.
[[noreturn]] void throw_as_driver(const sqlite::failure& failed);

/// Throws the `error` that `failed` means, with the exception of `throw_as_driver` nested in it.
[[noreturn]] void throw_as_error(const sqlite::failure& failed, const std::string& where,
                                 const std::string& if_missing);

/// Returns the result of `open`; exceptions of SQLiteCpp become failures.
std::unique_ptr<SQLite::Database> opened_by_driver(const auto& open) {
  try {
    return open();
  } catch (const SQLite::Exception& thrown) {
    throw sqlite::failure{thrown.getErrorCode(), thrown.what()};
  }
}

inline std::string url_of(const SQLite::Database& database) {
  return sqlite::url_of(database.getHandle());
}

/// Returns the result of `work`; failures become errors.
auto on_lock_table(const SQLite::Database& database, const table_name& table, const auto& work) {
  try {
    return work();
  } catch (const sqlite::failure& failed) {
    const auto where = url_of(database);
    throw_as_error(failed, where, detail::how_to_migrate(where, table));
  }
}

/// Opens an existing file for writing. A file that this process may not write is opened for reading
/// as it is at this moment. `path` is always a path, never a URI or a special name. Throws `error`
/// and `failure`.
std::unique_ptr<SQLite::Database> open_file(const std::string& path);

}  // namespace rowlock::detail

#endif
