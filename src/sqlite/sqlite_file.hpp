// The file that a path names.
#ifndef ROWLOCK_SQLITE_SQLITE_FILE_HPP
#define ROWLOCK_SQLITE_SQLITE_FILE_HPP

#include <memory>
#include <string>

#include "sqlite/patience.hpp"

namespace SQLite {
class Database;
}

namespace rowlock::detail {

/// As `rowlock migrate` takes it.
std::string url_of(const std::string& path);
/// Of the main database of a connection.
std::string url_of(const SQLite::Database& database);

/// Where the main database of a connection is; empty where it is no file: in memory, or temporary.
std::string file_of(const SQLite::Database& database);

/// Creates an empty file that only its owner can read and write, where there is none. Throws
/// `error`.
void create_file(const std::string& path);

/// Opens an existing file for writing, in WAL mode. `path` is always a path, never a URI or a
/// special name. Throws `error`, and `SQLite::Exception`: SQLITE_BUSY when the patience is over.
std::unique_ptr<SQLite::Database> open_file(const std::string& path, patience& wait);

/// What a connection of a store needs, wherever it came from. Throws `error` (unavailable) when it
/// cannot write.
void prepare_connection(SQLite::Database& database);

}  // namespace rowlock::detail

#endif
