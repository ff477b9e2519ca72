// The connections of a PostgreSQL store.
#ifndef ROWLOCK_POSTGRES_PQXX_CONNECTION_POOL_HPP
#define ROWLOCK_POSTGRES_PQXX_CONNECTION_POOL_HPP

#include "postgres/pqxx/connection.hpp"
#include "store/connection_pool.hpp"

namespace rowlock::postgres {

using connection_pool = detail::connection_pool<postgres_connection>;

}  // namespace rowlock::postgres

#endif
