// The SQLite handle of a SOCI session, and its connection parameters.
#ifndef ROWLOCK_SQLITE_SOCI_HANDLE_HPP
#define ROWLOCK_SQLITE_SOCI_HANDLE_HPP

#include <string>

#include "sqlite/failure.hpp"

struct sqlite3;

namespace soci {
class backend_factory;
class session;
}  // namespace soci

namespace rowlock::through_soci {

/// SQLite's own handle of an open session of that backend.
sqlite3* handle_of(::soci::session& session);

/// A factory that opens existing files only; SOCI's would create missing ones.
const ::soci::backend_factory& existing_files();

/// Called while an exception of opening or reconnecting is handled. Throws it if it is an `error`,
/// and SOCI's exception as a `failure`.
[[noreturn]] void throw_opening_failure();

/// Makes `retry` recognise the conflicts among this backend's exceptions. Cheap, any number of
/// times.
void recognise_sqlite_conflicts() noexcept;

/// The path in `db=/path timeout=5`, or in `/path` alone. Throws `error` (misuse) if there is none,
/// if it is not a path (in memory, a URI), and for settings that a store cannot work with.
std::string file_in(const std::string& parameters);

}  // namespace rowlock::through_soci

#endif
