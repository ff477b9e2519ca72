// The database file: its path, WAL, network file systems, a file that moved.
#ifndef ROWLOCK_SQLITE_DATABASE_FILE_HPP
#define ROWLOCK_SQLITE_DATABASE_FILE_HPP

#include <string>

#include "sqlite/busy_wait.hpp"

struct sqlite3;

namespace rowlock::sqlite {

/// As `rowlock migrate` takes it.
std::string url_of(const std::string& path);
/// Of the main database of a connection.
std::string url_of(sqlite3* database);

/// As the connection names its main database's file, be it there or not; empty where there is none.
std::string path_of(sqlite3* database);
/// Where the main database of a connection is; empty where it is no file: in memory, or temporary.
std::string file_of(sqlite3* database);

/// Creates an empty file that only its owner can read and write, where there is none. Throws
/// `error`.
void create_file(const std::string& path);

/// `path` in a form that SQLite takes for a path only, never for a URI or a special name. Throws
/// `error` where there is no file.
std::string as_existing_file(const std::string& path);

/// The URI by which SQLite reads a file that this process may not write, and to which nobody is
/// writing at this moment; empty otherwise. Without it SQLite would make a -wal and a -shm, or fail
/// because it cannot; and those that it makes here may keep others from writing.
std::string uri_of_unwritable(const std::string& path);

/// The file was deleted or replaced: what is written to this one, others do not see.
bool has_moved(sqlite3* database);

/// Of its main database.
bool is_read_only(sqlite3* database) noexcept;
/// Throws `error` (unavailable) when it cannot write.
void require_writable(sqlite3* database);

/// What a connection of a store needs, wherever it came from.
void prepare_connection(sqlite3* database);

/// Where the connection can write. Throws `failure`: SQLITE_BUSY when the patience is over.
void switch_to_wal(sqlite3* database, busy_wait& wait);

/// Throws `error` (rejected) when `file` is on a file system that other machines may share: locks
/// do not reach them there, or not reliably, and the shared memory of WAL never does. FUSE counts
/// as one, because the kernel does not say what is behind it (sshfs, or something local). Does
/// nothing where `file` cannot be looked at.
void refuse_network_file_system(const std::string& file);

}  // namespace rowlock::sqlite

#endif
