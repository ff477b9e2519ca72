// The test server by way of a network that fails on demand.
#ifndef ROWLOCK_TESTS_FAULTS_PROXIED_TABLE_HPP
#define ROWLOCK_TESTS_FAULTS_PROXIED_TABLE_HPP

#include <string>

#include "postgres/postgres_table.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/postgres.hpp"
#include "support/tcp_proxy.hpp"

namespace rowlock::tests {

class proxied_table : public postgres_table {
 protected:
  [[nodiscard]] std::string url() const { return url_through(proxy_); }

  /// As it is in the table, whatever the network does.
  row_state row_of(const lock_key& key) { return direct_.read(std::array{key}).front().value(); }

  tcp_proxy proxy_{server_.host(), server_.port()};
  postgres_store direct_{postgres_url(), {.table = table()}};
};

}  // namespace rowlock::tests

#endif
