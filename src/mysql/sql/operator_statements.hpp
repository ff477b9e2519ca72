// The SQL for a person on call, on MariaDB and MySQL.
#ifndef ROWLOCK_MYSQL_SQL_OPERATOR_STATEMENTS_HPP
#define ROWLOCK_MYSQL_SQL_OPERATOR_STATEMENTS_HPP

#include <string>

#include "mysql/sql/spelling.hpp"
#include "rowlock/table_name.hpp"

namespace rowlock::sql {

/// The statements for one table; mysql_operator_statements.cpp says what each does and takes.
struct mysql_operator_statements {
  mysql_operator_statements(const table_name& table, mysql_flavour flavour);

  std::string write_note;
  std::string lock_if_free;
  std::string force_release;
  std::string rows_to_purge;
  std::string purge_many;
};

}  // namespace rowlock::sql

#endif
