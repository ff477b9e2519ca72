// A lock table of a test's own on the MariaDB server, gone after the test.
#include "support/mysql_table.hpp"

#include <soci/mysql/soci-mysql.h>
#include <soci/soci.h>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <stdexcept>

#include "cli/database_url.hpp"
#include "rowlock/owner_id.hpp"

namespace rowlock::tests {

std::string mariadb_url() {
  const char* url = std::getenv("ROWLOCK_TEST_MARIADB");  // NOLINT(concurrency-mt-unsafe)
  if (url == nullptr || *url == '\0') {
    throw std::runtime_error{
        "no MariaDB server to test with: run script/test, or name one in ROWLOCK_TEST_MARIADB"};
  }
  return url;
}

std::string mariadb_target() { return database_url{mariadb_url()}.target(); }

mysql_table::mysql_table() : name_{"t_" + make_owner_id().text} {}

mysql_table::~mysql_table() {
  try {
    ::soci::session session{mariadb_target()};
    session << "drop table if exists " << name_.text() << ", " << name_.text() << "_schema, "
            << name_.text() << "_note";
  } catch (const std::exception& thrown) {
    std::cerr << "the table " << name_.text() << " stays behind: " << thrown.what() << '\n';
  }
}

}  // namespace rowlock::tests
