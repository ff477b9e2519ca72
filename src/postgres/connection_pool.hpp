// The connections of a PostgreSQL store.
#ifndef ROWLOCK_POSTGRES_CONNECTION_POOL_HPP
#define ROWLOCK_POSTGRES_CONNECTION_POOL_HPP

#include "core/connection_pool.hpp"
#include "postgres/postgres_connection.hpp"

namespace rowlock::postgres {

using connection_pool = detail::connection_pool<postgres_connection>;

}  // namespace rowlock::postgres

#endif
