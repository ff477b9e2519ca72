// Brings a SQLite file to the schema version of this library.
#ifndef ROWLOCK_SQLITE_ENGINE_MIGRATE_HPP
#define ROWLOCK_SQLITE_ENGINE_MIGRATE_HPP

#include <vector>

#include "rowlock/table_name.hpp"

struct sqlite3;

namespace rowlock::sqlite {

/// What to do where a migration fails in a way that nobody foresaw.
inline constexpr const char* look_at_the_tables = "look at the tables there";

/// Throws `error` (misuse) for a name in a schema that files do not have.
void check_schema_name(const table_name& table);

/// Switches the file to WAL, applies what is missing, in one transaction, and returns it. Throws
/// `error`, and `failure`.
std::vector<migration> migrate(sqlite3* database, const table_name& table);

}  // namespace rowlock::sqlite

#endif
