// Whether a table of a SQLite file is one that rowlock's locks can live in.
#ifndef ROWLOCK_SQLITE_TABLE_CHECK_HPP
#define ROWLOCK_SQLITE_TABLE_CHECK_HPP

#include <optional>
#include <string>

#include "rowlock/table_name.hpp"
#include "sqlite/row_statements.hpp"

struct sqlite3;

namespace rowlock::sqlite {

/// Why the promises cannot rest on the table, as in "has no column owner"; none where they can, and
/// where there is no such table. Throws `failure`.
std::optional<std::string> what_is_wrong_with(sqlite3* database, const table_name& table);

/// Throws `error` (rejected) unless the table is there, its schema is the one of this library, and
/// nothing is wrong with it. `where` is the database, as a URL. Throws `failure`.
void check_table(sqlite3* database, row_statements& rows, const table_name& table,
                 const std::string& where);

}  // namespace rowlock::sqlite

#endif
