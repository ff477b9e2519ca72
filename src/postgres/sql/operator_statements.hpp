// The SQL for operators on PostgreSQL: notes, force and purge.
#ifndef ROWLOCK_POSTGRES_SQL_OPERATOR_STATEMENTS_HPP
#define ROWLOCK_POSTGRES_SQL_OPERATOR_STATEMENTS_HPP

#include <string>

#include "rowlock/table_name.hpp"

namespace rowlock::sql {

/// The statements for one table; postgres_operator_statements.cpp says what each does and takes.
struct postgres_operator_statements {
  explicit postgres_operator_statements(const postgres_table& table);

  std::string write_note;
  std::string used_by;
  std::string force_release;
  std::string purge;
};

}  // namespace rowlock::sql

#endif
