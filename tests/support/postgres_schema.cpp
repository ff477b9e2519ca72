// A fresh schema on the test server that is gone after the test.
#include "support/postgres_schema.hpp"

#include <cstdlib>
#include <exception>
#include <iostream>
#include <pqxx/pqxx>
#include <stdexcept>

#include "rowlock/port/requests.hpp"
#include "support/tcp_proxy.hpp"

namespace rowlock::tests {

namespace {

/// port() is deprecated from libpqxx 8 on.
std::string port_of(auto& connection) {
  if constexpr (requires { connection.port_number(); }) {
    return std::to_string(connection.port_number().value());
  } else {
    return connection.port();
  }
}

}  // namespace

server_address address_of(const std::string& url) {
  pqxx::connection known{url};
  return {known.hostname(), port_of(known)};
}

std::string postgres_url() {
  const char* url = std::getenv("ROWLOCK_TEST_POSTGRES");  // NOLINT(concurrency-mt-unsafe)
  if (url == nullptr || *url == '\0') {
    throw std::runtime_error{
        "no PostgreSQL server to test with: run script/test, or name one in ROWLOCK_TEST_POSTGRES"};
  }
  return url;
}

std::string url_through(const tcp_proxy& proxy, const std::string& url) {
  const auto port = std::to_string(proxy.port());
  if (url.find("://") == std::string::npos) return url + " host=127.0.0.1 port=" + port;
  const char* separator = url.find('?') == std::string::npos ? "?" : "&";
  return url + separator + "host=127.0.0.1&port=" + port;
}

void postgres_schema::execute(const std::string& sql) {
  pqxx::connection connection{postgres_url()};
  pqxx::work work{connection};
  work.exec(sql);
  work.commit();
}

postgres_schema::postgres_schema() : name_{"t_" + make_owner_id().text} {
  execute("create schema " + name_);
}

postgres_schema::~postgres_schema() {
  try {
    execute("set local client_min_messages = warning; drop schema " + name_ + " cascade");
  } catch (const std::exception& thrown) {
    std::cerr << "the schema " << name_ << " stays behind: " << thrown.what() << '\n';
  }
}

}  // namespace rowlock::tests
