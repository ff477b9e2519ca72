// What the result codes of SQLite mean to the caller.
#ifndef ROWLOCK_SQLITE_RESULT_CODES_HPP
#define ROWLOCK_SQLITE_RESULT_CODES_HPP

#include <string>

#include "sqlite/failure.hpp"

namespace rowlock::on_sqlite {

/// Somebody else has the file; try again.
bool is_busy(const failure& thrown) noexcept;

/// For a failed write that SQLite committed at once, and a failed COMMIT: after an error of input
/// or output nobody knows what the disk has. Throws `thrown`, in doubt if it is.
[[noreturn]] void throw_as_commit(const failure& thrown);

/// Throws the `error` that `thrown` means. The exception that is being handled is nested. `where`
/// is the database, as a URL; `if_missing` says what to do where a table or a column is missing.
[[noreturn]] void throw_error(const failure& thrown, const std::string& where,
                              const std::string& if_missing);

}  // namespace rowlock::on_sqlite

#endif
