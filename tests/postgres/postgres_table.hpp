// A lock table on the test server, and what the PostgreSQL tests read of it.
#ifndef ROWLOCK_TESTS_POSTGRES_POSTGRES_TABLE_HPP
#define ROWLOCK_TESTS_POSTGRES_POSTGRES_TABLE_HPP

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <pqxx/pqxx>
#include <string>
#include <vector>

#include "rowlock/error.hpp"
#include "rowlock/port/requests.hpp"
#include "rowlock/postgres_store.hpp"
#include "support/caught_error.hpp"
#include "support/patience.hpp"
#include "support/postgres_schema.hpp"

namespace rowlock::tests {

using namespace std::chrono_literals;

/// A connection that sees everything.
class observer {
 public:
  explicit observer(const std::string& url = postgres_url()) : connection_{url} {}

  pqxx::result query(const std::string& sql) {
    pqxx::nontransaction reader{connection_};
    return reader.exec(sql);
  }

  template <class Value>
  Value value(const std::string& sql) {
    return query(sql)[0][0].as<Value>();
  }

  /// Returns when `sql` answers true. Throws when that takes too long.
  void await(const std::string& sql) {
    await_that([&] { return value<bool>(sql); }, {}, [&] { return sql; });
  }

  /// Where the server is.
  [[nodiscard]] static std::string host() { return address_of().host; }
  [[nodiscard]] static std::string port() { return address_of().port; }

 private:
  pqxx::connection connection_;
};

/// An open transaction; rolled back at the end.
struct open_work {
  explicit open_work(const std::string& url = postgres_url()) : connection{url} {}

  pqxx::connection connection;
  pqxx::work work{connection};
};

/// Of a store that is to wait until a test has seen that it waits.
inline postgres_options long_waits() {
  return {.statement_timeout = 5min, .lock_timeout = 5min, .answer_timeout = 6min};
}

class postgres_table : public testing::Test {
 protected:
  postgres_table() { migrate_postgres(postgres_url(), table()); }

  [[nodiscard]] table_name table() const { return schema_.table(); }
  [[nodiscard]] const std::string& schema() const { return schema_.name(); }
  [[nodiscard]] std::string name() const { return table().text(); }

  static std::string url_with(const std::string& parameter) {
    const char* separator = postgres_url().find('?') == std::string::npos ? "?" : "&";
    return postgres_url() + separator + parameter;
  }
  [[nodiscard]] postgres_store open_store(const std::string& url = postgres_url()) const {
    return postgres_store{url, {.table = table()}};
  }

  acquire_request request(const lock_key& key) const {
    return {.key = key, .owner = mine_, .holder = "host:1", .ttl = 1h};
  }
  acquire_answer acquire(store& rows, const lock_key& key) {
    return rows.acquire(std::array{request(key)}).front();
  }
  change_answer renew(store& rows, const lock_key& key, version granted) {
    return rows.renew(std::array{renew_request{key, mine_, granted, 1h}}).front();
  }
  change_answer release(store& rows, const lock_key& key, version granted) {
    return rows.release(std::array{release_request{key, mine_, granted}}).front();
  }

  /// Of a store with a short limit, which a busy machine may exceed: what a store does once is
  /// done.
  static void await_first_answer(store& rows) {
    const auto is_in_time = [&] {
      try {
        (void)rows.list();
        return true;
      } catch (const error& fault) {
        if (fault.kind() != errc::unavailable) throw;
        return false;
      }
    };
    await_that(is_in_time);
  }

  /// Of a row of the application's own transaction.
  static std::string row(const lock_key& key) {
    return " where lock_type = '" + key.type + "' and source_id = '" + key.source_id + "'";
  }

  postgres_schema schema_;
  observer server_;
  const owner_id mine_ = make_owner_id();
  const lock_key key_{.type = "invoice", .source_id = "42"};
  const lock_key other_key_{.type = "invoice", .source_id = "43"};
};

/// A role that exists as long as a test.
class test_role {
 public:
  /// Not every server takes roles without one.
  static constexpr const char* password = "guest";

  explicit test_role(observer& server) : server_{server}, name_{"r_" + make_owner_id().text} {
    server_.query("create role " + name_ + " login password '" + password + "'");
  }
  test_role(const test_role&) = delete;
  test_role& operator=(const test_role&) = delete;
  ~test_role() {
    server_.query("drop owned by " + name_);
    server_.query("drop role " + name_);
  }

  [[nodiscard]] const std::string& name() const { return name_; }
  /// The test server, as this role.
  [[nodiscard]] std::string url() const { return with_user(postgres_url(), name_); }

 private:
  static std::string with_user(const std::string& url, const std::string& user) {
    const char* separator = url.find('?') == std::string::npos ? "?" : "&";
    return url + separator + "user=" + user + "&password=" + password;
  }

  observer& server_;
  std::string name_;
};

/// The test server as a section of a service file, for `role`: `[name]` and its lines.
inline std::string service_on(observer& server, const std::string& name, const test_role& role,
                              const std::string& more = {}) {
  return "[" + name + "]\nhost=" + server.host() + "\nport=" + server.port() +
         "\ndbname=" + server.value<std::string>("select current_database()") +
         "\nuser=" + role.name() + "\npassword=" + test_role::password + "\n" + more + "\n";
}

}  // namespace rowlock::tests

#endif
