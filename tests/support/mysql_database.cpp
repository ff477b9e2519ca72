// A database of a test's own on the MariaDB server, gone after the test.
#include "support/mysql_database.hpp"

#include <soci/mysql/soci-mysql.h>
#include <soci/soci.h>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <stdexcept>

#include "cli/database_url.hpp"
#include "rowlock/port/requests.hpp"
#include "support/tcp_proxy.hpp"

namespace rowlock::tests {

namespace {

void execute_on(const std::string& target, const std::string& sql) {
  ::soci::session session{target};
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-static-cast-downcast): its type is not exported
  auto* connection = static_cast<::soci::mysql_session_backend*>(session.get_backend())->conn_;
  const auto check = [&](int failed) {
    if (failed > 0) throw std::runtime_error{mysql_error(connection)};
  };
  check(mysql_set_server_option(connection, MYSQL_OPTION_MULTI_STATEMENTS_ON));
  check(mysql_query(connection, sql.c_str()));
  for (int more = 0; more == 0;) {
    mysql_free_result(mysql_store_result(connection));
    more = mysql_next_result(connection);
    check(more);
  }
}

}  // namespace

std::string mariadb_url() {
  const char* url = std::getenv("ROWLOCK_TEST_MARIADB");  // NOLINT(concurrency-mt-unsafe)
  if (url == nullptr || *url == '\0') {
    throw std::runtime_error{
        "no MariaDB server to test with: run script/test, or name one in ROWLOCK_TEST_MARIADB"};
  }
  return url;
}

std::string mariadb_target() { return database_url{mariadb_url()}.target(); }

mysql_database::mysql_database() : name_{"d_" + make_owner_id().text} {
  execute_on(mariadb_target(), "create database " + name_);
}

mysql_database::~mysql_database() {
  try {
    execute_on(mariadb_target(), "drop database " + name_);
  } catch (const std::exception& thrown) {
    std::cerr << "the database " << name_ << " stays behind: " << thrown.what() << '\n';
  }
}

std::string mysql_database::url() const {
  const auto base = mariadb_url();
  return base.substr(0, base.rfind('/') + 1) + name_;
}

std::string mysql_database::url_through(const tcp_proxy& proxy) const {
  auto through = url();
  const auto slash = through.rfind('/');
  const auto colon = through.rfind(':', slash);
  return through.replace(colon + 1, slash - colon - 1, std::to_string(proxy.port()));
}

std::string mysql_database::target() const { return database_url{url()}.target(); }

void mysql_database::execute(const std::string& sql) const { execute_on(target(), sql); }

std::string mysql_database::value(const std::string& sql) const {
  ::soci::session session{target()};
  std::string value;
  ::soci::indicator is_null{};
  session << sql, ::soci::into(value, is_null);
  return is_null == ::soci::i_null ? std::string{} : value;
}

}  // namespace rowlock::tests
