// The parameters of a connection to a SQLite file, as SOCI reads them.
#ifndef ROWLOCK_SQLITE_SOCI_SQLITE_PARAMETERS_HPP
#define ROWLOCK_SQLITE_SOCI_SQLITE_PARAMETERS_HPP

#include <string>

namespace rowlock::through_soci {

/// The path in `db=/path timeout=5`, or in `/path` alone. Throws `error` (misuse) where there is
/// none, for what is no path (in memory, a URI), and for settings that a store cannot work with.
std::string file_in(const std::string& parameters);

}  // namespace rowlock::through_soci

#endif
