// The version of SQLite, the schema of a file, and what this process may do with it.
#ifndef ROWLOCK_SQLITE_INSPECTING_HPP
#define ROWLOCK_SQLITE_INSPECTING_HPP

#include "rowlock/port/requests.hpp"
#include "sqlite/file_access.hpp"

struct sqlite3;

namespace rowlock::sqlite {

/// `file` is that of `database`. Throws `error` and `failure`.
inspection inspected(file_access& file, sqlite3* database);

}  // namespace rowlock::sqlite

#endif
