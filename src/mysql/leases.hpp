// The port's calls on a session on MariaDB or MySQL.
#ifndef ROWLOCK_MYSQL_LEASES_HPP
#define ROWLOCK_MYSQL_LEASES_HPP

#include <memory>

#include "soci/backend.hpp"

namespace rowlock::through_soci {

/// Pins the session, which must be the store's alone. Throws `error`.
std::unique_ptr<lease_session> pin_mysql(::soci::session& session, const soci_options& options);

}  // namespace rowlock::through_soci

#endif
