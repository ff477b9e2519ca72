// The SQL for sets of keys on MariaDB and MySQL.
#ifndef ROWLOCK_MYSQL_SQL_SET_STATEMENTS_HPP
#define ROWLOCK_MYSQL_SQL_SET_STATEMENTS_HPP

#include <string>

#include "mysql/sql/spelling.hpp"
#include "rowlock/table_name.hpp"

namespace rowlock::sql {

/// The statements for one table; mysql_set_statements.cpp says what each does and takes.
struct mysql_set_statements {
  mysql_set_statements(const table_name& table, mysql_flavour flavour);

  std::string grant_all;
  std::string have_some_at_version;
};

}  // namespace rowlock::sql

#endif
