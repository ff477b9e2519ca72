// How connections come about.
#include "postgres/pqxx/connector.hpp"

#include <mutex>
#include <typeinfo>
#include <utility>

#include "postgres/failed_connect.hpp"
#include "postgres/pqxx/connection.hpp"
#include "postgres/server_version.hpp"
#include "rowlock/error.hpp"

namespace rowlock::postgres {

connector connector_to(const conninfo& to) {
  return [to] { return connect(to); };
}

connector connector_by(detail::make_connection make) {
  const auto turns = std::make_shared<std::mutex>();  // `make` need not be safe for threads
  return [make = std::move(make), turns] {
    const std::scoped_lock turn{*turns};
    try {
      const auto made = make();
      if (made.connection == nullptr || *made.type != typeid(pqxx::connection)) {
        throw error{errc::misuse,
                    "the factory must return a std::unique_ptr<pqxx::connection> that is not null"};
      }
      auto connection = std::static_pointer_cast<pqxx::connection>(made.connection);
      refuse_old(connection->server_version());
      return connection;
    } catch (const pqxx::failure& thrown) {
      throw_failed_connect(thrown.what(), "PostgreSQL, as the factory connects to it,");
    }
  };
}

}  // namespace rowlock::postgres
