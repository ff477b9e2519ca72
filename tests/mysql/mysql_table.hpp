// A lock table on the MariaDB server, and helpers of its tests.
#ifndef ROWLOCK_TESTS_MYSQL_MYSQL_TABLE_HPP
#define ROWLOCK_TESTS_MYSQL_MYSQL_TABLE_HPP

#include <gtest/gtest.h>
#include <soci/mysql/soci-mysql.h>
#include <soci/soci.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>

#include "rowlock/lock_table.hpp"
#include "rowlock/port/requests.hpp"
#include "rowlock/soci.hpp"
#include "rowlock/soci_store.hpp"
#include "support/caught_error.hpp"
#include "support/mysql_database.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {

using namespace std::chrono_literals;

class mysql_test : public testing::Test {
 protected:
  mysql_test() { migrate_soci(database_.target()); }

  [[nodiscard]] std::string target() const { return database_.target(); }
  /// The same server, by way of a proxy.
  [[nodiscard]] std::string target_at(int port) const {
    const auto base = target();
    const auto begin = base.find(" port='");
    const auto end = base.find('\'', begin + 7);
    return base.substr(0, begin) + " port='" + std::to_string(port) + base.substr(end);
  }
  [[nodiscard]] std::string server_port() const { return database_.value("select @@port"); }
  [[nodiscard]] std::unique_ptr<::soci::session> connect() const {
    return std::make_unique<::soci::session>(target());
  }
  /// The server counts the deadlocks of all tests. One that counts or makes them has this session,
  /// which no other such test has at the same time.
  [[nodiscard]] std::unique_ptr<::soci::session> alone_with_deadlocks() const {
    auto session = connect();
    *session << "do get_lock('deadlocks of tests', 60)";
    return session;
  }
  [[nodiscard]] long long number(const std::string& sql) const {
    return std::stoll(database_.value(sql));
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
  /// Makes the row, unowned.
  void create(const lock_key& key) { rows_.read(std::array{key}, read_mode::ready_to_commit); }
  void run_out(const lock_key& key) {
    database_.execute(
        "update shared_lock set expires_at = utc_timestamp(6) - interval 1 second "
        "where source_id = '" +
        key.source_id + "'");
  }

  mysql_database database_;
  soci_store rows_{database_.target()};
  const owner_id mine_ = make_owner_id();
  const lock_key key_{.type = "invoice", .source_id = "42"};
  const lock_key other_key_{.type = "invoice", .source_id = "43"};
};

/// The value of a variable of the session.
inline std::string setting(::soci::session& session, const std::string& name) {
  std::string value;
  session << "select @@session." << name, ::soci::into(value);
  return value;
}

}  // namespace rowlock::tests

#endif
