// The SQLite files that this process has open, and those that were open at a fork().
#ifndef ROWLOCK_SQLITE_OPEN_FILES_HPP
#define ROWLOCK_SQLITE_OPEN_FILES_HPP

#include <string>

struct sqlite3;

namespace rowlock::sqlite {

// SQLite notes once a process, for each file, which locks its connections have. A child of fork()
// inherits these notes, and not the locks. So a connection that it opens to a file that was open
// takes none of the locks that the notes show: another process may delete the -wal under it, and
// what it commits is lost. The last connection to the file takes the notes along when it is closed.

/// Throws `error` (misuse) if the file was open at a fork(), by this or another name, on a
/// connection of `note_open`. Touches neither the file nor SQLite, whose mutexes may be locked by
/// threads that this process does not have.
void refuse_open_at_fork(const std::string& path);

/// Notes the files of the connection, the attached ones too, until it is closed. To be called
/// before it reads or writes. Throws as `refuse_open_at_fork`, and `failure`.
void note_open(sqlite3* database);

}  // namespace rowlock::sqlite

#endif
