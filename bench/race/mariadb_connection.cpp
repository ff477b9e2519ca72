// A connection to a MariaDB server through its C library.
#include "race/mariadb_connection.hpp"

#include <mysql.h>

#include <regex>
#include <stdexcept>

namespace rowlock::race {

mariadb_connection::mariadb_connection(const std::string& url)
    : connection_{mysql_init(nullptr), mysql_close} {
  std::smatch parts;
  if (!std::regex_match(url, parts, std::regex{"[a-z]+://([^@]*)@([^:/]+):([0-9]+)/(.*)"})) {
    throw std::runtime_error{"ROWLOCK_TEST_MARIADB is not mysql://user@host:port/database"};
  }
  const auto port = static_cast<unsigned>(std::stoul(parts[3]));
  // As SOCI connects: the rows that were found are counted.
  if (mysql_real_connect(connection_.get(), parts[2].str().c_str(), parts[1].str().c_str(), nullptr,
                         parts[4].str().c_str(), port, nullptr, CLIENT_FOUND_ROWS) == nullptr) {
    throw std::runtime_error{mysql_error(connection_.get())};
  }
}

mariadb_connection::change mariadb_connection::execute(const std::string& sql) {
  if (mysql_real_query(connection_.get(), sql.data(), sql.size()) != 0) {
    throw std::runtime_error{mysql_error(connection_.get())};
  }
  return {.affected = mysql_affected_rows(connection_.get()),
          .insert_id = mysql_insert_id(connection_.get())};
}

}  // namespace rowlock::race
