// The check whether a SQLite table is fit for locks.
#ifndef ROWLOCK_SQLITE_TABLE_CHECK_HPP
#define ROWLOCK_SQLITE_TABLE_CHECK_HPP

#include <optional>
#include <string>

#include "rowlock/table_name.hpp"
#include "sqlite/row_statements.hpp"

struct sqlite3;

namespace rowlock::sqlite {

/// Why the guarantees cannot rest on the table, as in "has no column owner"; none if they can, or
/// if there is no such table. Throws `failure`.
std::optional<std::string> what_is_wrong_with(sqlite3* database, const table_name& table);

/// Throws `error` (rejected) unless the table exists, has the schema of this library, and is fit
/// for locks. `where` is the database's URL. Throws `failure`.
void check_table(sqlite3* database, row_statements& rows, const table_name& table,
                 const std::string& where);

}  // namespace rowlock::sqlite

#endif
