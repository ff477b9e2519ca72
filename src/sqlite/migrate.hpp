// The migration of a SQLite file to the schema version of this library.
#ifndef ROWLOCK_SQLITE_ENGINE_MIGRATE_HPP
#define ROWLOCK_SQLITE_ENGINE_MIGRATE_HPP

#include <vector>

#include "rowlock/table_name.hpp"

struct sqlite3;

namespace rowlock::sqlite {

/// The remedy for a migration that fails for an unforeseen reason.
inline constexpr const char* look_at_the_tables = "look at the tables there";

/// Throws `error` (misuse) for a table in any schema but main: a file has no other.
void check_schema_name(const table_name& table);

/// Switches the file to WAL, applies the missing migrations in one transaction, and returns them.
/// Throws `error` and `failure`.
std::vector<migration> migrate(sqlite3* database, const table_name& table);

}  // namespace rowlock::sqlite

#endif
