// The handle of a SOCI session's file, and its parameters.
#ifndef ROWLOCK_SQLITE_SOCI_HANDLE_HPP
#define ROWLOCK_SQLITE_SOCI_HANDLE_HPP

#include <string>

#include "sqlite/statement.hpp"

struct sqlite3;

namespace soci {
class backend_factory;
class session;
}  // namespace soci

namespace rowlock::through_soci {

/// SQLite's own, of an open session of that backend.
sqlite3* handle_of(::soci::session& session);

/// Opens existing files only, where SOCI would create what is missing.
const ::soci::backend_factory& existing_files();

/// Called while an exception of opening or reconnecting is being handled: throws it if it is an
/// `error`, and what it says as a failure if not.
[[noreturn]] void throw_opening_failure();

/// Tells `retry` which exceptions of this backend are conflicts. Cheap, any number of times.
void recognise_sqlite_conflicts() noexcept;

/// The path in `db=/path timeout=5`, or in `/path` alone. Throws `error` (misuse) where there is
/// none, for what is no path (in memory, a URI), and for settings that a store cannot work with.
std::string file_in(const std::string& parameters);

}  // namespace rowlock::through_soci

#endif
