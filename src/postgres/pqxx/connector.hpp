// How connections come about: from a connection string, or from the application's factory.
#ifndef ROWLOCK_POSTGRES_PQXX_CONNECTOR_HPP
#define ROWLOCK_POSTGRES_PQXX_CONNECTOR_HPP

#include <functional>
#include <memory>
#include <pqxx/pqxx>

#include "postgres/connecting.hpp"
#include "rowlock/postgres_connect.hpp"

namespace rowlock::postgres {

/// A new connection at each call, from any thread. Throws `error`, without the driver's words.
using connector = std::function<std::shared_ptr<pqxx::connection>()>;

connector connector_to(const conninfo& to);
/// One call of `make` at a time. Throws `error` (misuse) where it makes something else.
connector connector_by(detail::make_connection make);

}  // namespace rowlock::postgres

#endif
