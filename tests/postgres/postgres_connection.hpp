// The connections of a store, distinguished from all others on the server.
#ifndef ROWLOCK_TESTS_POSTGRES_POSTGRES_CONNECTION_HPP
#define ROWLOCK_TESTS_POSTGRES_POSTGRES_CONNECTION_HPP

#include <functional>
#include <memory>

#include "postgres/postgres_table.hpp"

namespace rowlock::tests {

class PostgresConnection : public postgres_table {
 protected:
  /// A store whose connections can be distinguished from others.
  postgres_store open_named_store(unsigned pool_size = 4) {
    auto options = long_waits();
    options.table = table();
    options.pool_size = pool_size;
    options.pool_timeout = 200ms;
    return postgres_store{url_with("application_name=" + schema()), options};
  }
  [[nodiscard]] std::string backends() const {
    return " from pg_stat_activity where application_name = '" + schema() + "'";
  }
  /// Ends the store's connections; returns when they are gone.
  void terminate_backends() {
    server_.query("select pg_terminate_backend(pid, 10000)" + backends());
    server_.await("select count(*) = 0" + backends());
  }
  std::int64_t count_backends() {
    return server_.value<std::int64_t>("select count(*)" + backends());
  }

  using make_connection = std::function<std::unique_ptr<pqxx::connection>()>;
};

}  // namespace rowlock::tests

#endif
