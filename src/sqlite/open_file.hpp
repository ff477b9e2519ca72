// Connections to files that the library opens itself.
#ifndef ROWLOCK_SQLITE_OPEN_FILE_HPP
#define ROWLOCK_SQLITE_OPEN_FILE_HPP

#include <SQLiteCpp/Database.h>

#include <memory>
#include <string>

#include "dialects/sqlite/patience.hpp"

namespace rowlock::detail {

/// Opens an existing file for writing, in WAL mode. `path` is always a path, never a URI or a
/// special name. Throws `error`, and `failure`: SQLITE_BUSY when the patience is over.
std::unique_ptr<SQLite::Database> open_file(const std::string& path, on_sqlite::patience& wait);

}  // namespace rowlock::detail

#endif
