// The application's transaction, as far as we use it.
#ifndef ROWLOCK_SQLITE_CALLER_TRANSACTION_HPP
#define ROWLOCK_SQLITE_CALLER_TRANSACTION_HPP

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>

#include "rowlock/table_name.hpp"
#include "sql/schema_check.hpp"
#include "sqlite/sqlite_errors.hpp"
#include "sqlite/sqlite_file.hpp"

namespace rowlock::detail {

/// Throw `error` (misuse), seen on the connection without touching the file.
void require_transaction(const SQLite::Database& database);
void require_immediate_transaction(const SQLite::Database& database);

/// What `work` returns; its exceptions as errors.
template <class Result>
Result on_lock_table(const SQLite::Database& database, const table_name& table, const auto& work) {
  try {
    return work();
  } catch (const SQLite::Exception& thrown) {
    const auto where = url_of(database);
    throw_error(thrown, where, sql::how_to_migrate(where, table));
  }
}

}  // namespace rowlock::detail

#endif
