// The SQL for several rows at once, each on its own, on MariaDB and MySQL.
#ifndef ROWLOCK_MYSQL_SQL_MANY_STATEMENTS_HPP
#define ROWLOCK_MYSQL_SQL_MANY_STATEMENTS_HPP

#include <string>

#include "mysql/sql/spelling.hpp"
#include "rowlock/table_name.hpp"

namespace rowlock::sql {

/// The statements for one table; mysql_many_statements.cpp says what each does and takes.
struct mysql_many_statements {
  mysql_many_statements(const table_name& table, mysql_flavour flavour);

  std::string take_many;
  std::string insert_many;
  std::string renew_many;
  std::string release_many;
  std::string insert_many_unowned;

  // Their rows, without waiting for those that somebody has.
  std::string have_many_at_version;
  std::string have_many_granted;
};

}  // namespace rowlock::sql

#endif
