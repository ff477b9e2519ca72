// A database of a test's own on the MariaDB server, gone after the test.
#ifndef ROWLOCK_TESTS_SUPPORT_MYSQL_DATABASE_HPP
#define ROWLOCK_TESTS_SUPPORT_MYSQL_DATABASE_HPP

#include <string>

namespace rowlock::tests {

class tcp_proxy;

/// The server and database that ROWLOCK_TEST_MARIADB names, as a URL: mysql://user@host:port/name.
/// Throws, and so fails the test, when it names none.
std::string mariadb_url();
/// The same for SOCI.
std::string mariadb_target();

class mysql_database {
 public:
  mysql_database();
  mysql_database(const mysql_database&) = delete;
  mysql_database& operator=(const mysql_database&) = delete;
  ~mysql_database();

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// As the command takes it, and as SOCI does.
  [[nodiscard]] std::string url() const;
  [[nodiscard]] std::string target() const;
  /// The URL by way of `proxy`, which leads to the server.
  [[nodiscard]] std::string url_through(const tcp_proxy& proxy) const;

  /// One or more statements, on a connection of their own.
  void execute(const std::string& sql) const;
  /// The one value that `sql` selects; empty for null.
  [[nodiscard]] std::string value(const std::string& sql) const;

 private:
  std::string name_;
};

}  // namespace rowlock::tests

#endif
