// The schema of a SQLite file: whether it is fit for locks, and its migration.
#ifndef ROWLOCK_SQLITE_SCHEMA_HPP
#define ROWLOCK_SQLITE_SCHEMA_HPP

#include <optional>
#include <string>
#include <vector>

#include "rowlock/table_name.hpp"
#include "sqlite/row_statements.hpp"
#include "store/schema_check.hpp"

struct sqlite3;

namespace rowlock::sqlite {

/// Why the guarantees cannot rest on the table; none if they can, or if there is no such table.
/// Throws `failure`.
std::optional<detail::unfitness> unfitness_of(sqlite3* database, const table_name& table);

/// Throws `error` (rejected) unless the table exists, has the schema of this library, and is fit
/// for locks. `where` is the database's URL. Throws `failure`.
void check_table(sqlite3* database, row_statements& rows, const table_name& table,
                 const std::string& where);

/// The remedy for a migration that fails for an unforeseen reason.
inline constexpr const char* look_at_the_tables = "look at the tables there";

/// Throws `error` (misuse) for a table in any schema but main: a file has no other.
void check_schema_name(const table_name& table);

/// Switches the file to WAL, applies the missing migrations in one transaction, and returns them.
/// Throws `error` and `failure`.
std::vector<migration> migrate(sqlite3* database, const table_name& table, history_option history);

}  // namespace rowlock::sqlite

#endif
