// The port's calls on a session of a SQLite file.
#ifndef ROWLOCK_SQLITE_SOCI_SESSION_HPP
#define ROWLOCK_SQLITE_SOCI_SESSION_HPP

#include <memory>

#include "soci/backend.hpp"

namespace rowlock::through_soci {

/// Nothing is asked of the file yet: its first call does that, which may have to wait.
std::unique_ptr<lease_session> make_sqlite_session(::soci::session& session,
                                                   const soci_options& options);

}  // namespace rowlock::through_soci

#endif
