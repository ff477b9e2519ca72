// A fresh schema on the test server that is gone after the test.
#ifndef ROWLOCK_TESTS_SUPPORT_POSTGRES_SCHEMA_HPP
#define ROWLOCK_TESTS_SUPPORT_POSTGRES_SCHEMA_HPP

#include <string>

#include "rowlock/table_name.hpp"

namespace rowlock::tests {

class tcp_proxy;

/// The server that ROWLOCK_TEST_POSTGRES names. Throws, and so fails the test, when it names none.
std::string postgres_url();
struct server_address {
  std::string host;
  std::string port;
};
/// Where a server listens.
server_address address_of(const std::string& url = postgres_url());

/// The same server, by way of `proxy`.
std::string url_through(const tcp_proxy& proxy, const std::string& url = postgres_url());

class postgres_schema {
 public:
  /// Empty; `migrate_postgres(postgres_url(), schema.table())` makes the lock table.
  postgres_schema();
  postgres_schema(const postgres_schema&) = delete;
  postgres_schema& operator=(const postgres_schema&) = delete;
  ~postgres_schema();

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// The lock table in this schema.
  [[nodiscard]] table_name table() const { return table_name{name_ + ".shared_lock"}; }
  /// Runs `sql` in a transaction of its own.
  static void execute(const std::string& sql);

 private:
  std::string name_;
};

}  // namespace rowlock::tests

#endif
