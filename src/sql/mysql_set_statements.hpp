// The SQL for sets of keys on MariaDB and MySQL.
#ifndef ROWLOCK_SQL_MYSQL_SET_STATEMENTS_HPP
#define ROWLOCK_SQL_MYSQL_SET_STATEMENTS_HPP

#include <string>

#include "rowlock/table_name.hpp"
#include "sql/mysql_spelling.hpp"

namespace rowlock::sql {

/// The statements for one table; mysql_set_statements.cpp says what each does and takes.
struct mysql_set_statements {
  mysql_set_statements(const table_name& table, mysql_flavour flavour);

  std::string grant_all;
  std::string have_some_at_version;
};

}  // namespace rowlock::sql

#endif
