// What the result codes of SQLite mean to the caller.
#ifndef ROWLOCK_SQLITE_SQLITE_ERRORS_HPP
#define ROWLOCK_SQLITE_SQLITE_ERRORS_HPP

#include <SQLiteCpp/Exception.h>

#include <string>

namespace rowlock::detail {

/// Somebody else has the file; try again.
bool is_busy(const SQLite::Exception& thrown) noexcept;

/// Throws the `error` that `thrown` means. Called while it is being handled: it is nested. `where`
/// is the database, as a URL; `if_missing` says what to do where a table or a column is missing.
[[noreturn]] void throw_error(const SQLite::Exception& thrown, const std::string& where,
                              const std::string& if_missing);

/// For a failed write that SQLite committed at once, and a failed COMMIT: after an error of input
/// or output nobody knows what the disk has. Does nothing for every other error.
void throw_if_in_doubt(const SQLite::Exception& thrown);

/// Tells `retry` which exceptions of SQLite are conflicts. Cheap, any number of times.
void recognise_sqlite_conflicts() noexcept;

}  // namespace rowlock::detail

#endif
