// The database file: its path, WAL, network file systems, replacement.
#ifndef ROWLOCK_SQLITE_DATABASE_FILE_HPP
#define ROWLOCK_SQLITE_DATABASE_FILE_HPP

#include <string>

#include "sqlite/busy_wait.hpp"

struct sqlite3;

namespace rowlock::sqlite {

/// The URL of a file, in the form that `rowlock migrate` takes.
std::string url_of(const std::string& path);
/// The same for the main database of a connection.
std::string url_of(sqlite3* database);

/// The path of the main database as the connection names it, whether or not the file exists. Empty
/// if it has none.
std::string path_of(sqlite3* database);
/// The path of the main database; empty if it is not in a file: in memory, or temporary.
std::string file_of(sqlite3* database);

/// Creates an empty file that only its owner can read and write, unless the file exists. Throws
/// `error`.
void create_file(const std::string& path);

/// `path` in a form that SQLite always reads as a path, never as a URI or a special name. Throws
/// `error` if there is no file, and (misuse) if it was open at a fork().
std::string as_existing_file(const std::string& path);

/// The URI for reading a file that this process may not write and no process is writing at this
/// moment; empty otherwise. Without it SQLite would create a -wal and a -shm, or fail because it
/// cannot. Files created here could keep other processes from writing.
std::string uri_of_unwritable(const std::string& path);

/// True if the file was deleted or replaced: other processes do not see what is written to this
/// one.
bool has_moved(sqlite3* database);

/// Whether the main database is read-only.
bool is_read_only(sqlite3* database) noexcept;
/// Throws `error` (unavailable) if the connection cannot write.
void require_writable(sqlite3* database);

/// Sets what a store needs, on a connection from any source. Throws as `note_open`.
void prepare_connection(sqlite3* database);

/// Switches to WAL, if the connection can write. Throws `failure`: SQLITE_BUSY when `wait` is over.
void switch_to_wal(sqlite3* database, busy_wait& wait);

/// Throws `error` (rejected) if `file` is on a file system that other machines may share. There
/// locks do not reach them, or not reliably, and the shared memory of WAL never does. FUSE counts
/// as shared, because the kernel does not report what is behind it (sshfs, or something local).
/// Does nothing if the file system of `file` is unknown.
void refuse_network_file_system(const std::string& file);

}  // namespace rowlock::sqlite

#endif
