// A lock table of a test's own on the MariaDB server, gone after the test.
#ifndef ROWLOCK_TESTS_SUPPORT_MYSQL_TABLE_HPP
#define ROWLOCK_TESTS_SUPPORT_MYSQL_TABLE_HPP

#include <string>

#include "rowlock/table_name.hpp"

namespace rowlock::tests {

/// The server and database that ROWLOCK_TEST_MARIADB names, as a URL: mysql://user@host:port/name.
/// Throws, and so fails the test, when it names none.
std::string mariadb_url();
/// The same for SOCI.
std::string mariadb_target();

class mysql_table {
 public:
  /// Only a name: `migrate_soci(mariadb_target(), table.name())` makes the table.
  mysql_table();
  mysql_table(const mysql_table&) = delete;
  mysql_table& operator=(const mysql_table&) = delete;
  /// Drops the lock table and what stands beside it.
  ~mysql_table();

  [[nodiscard]] const table_name& name() const noexcept { return name_; }

 private:
  table_name name_;
};

}  // namespace rowlock::tests

#endif
