// Connections to files that the library opens itself.
#ifndef ROWLOCK_SQLITE_SQLITECPP_OPEN_FILE_HPP
#define ROWLOCK_SQLITE_SQLITECPP_OPEN_FILE_HPP

#include <SQLiteCpp/Database.h>

#include <memory>
#include <string>

namespace rowlock::detail {

/// Opens an existing file for writing; one that this process may not write, for reading as it is at
/// this moment. `path` is always a path, never a URI or a special name.
/// Throws `error`, and `failure`.
std::unique_ptr<SQLite::Database> open_file(const std::string& path);

}  // namespace rowlock::detail

#endif
