// The SQL that grants sets of rows on PostgreSQL.
#ifndef ROWLOCK_POSTGRES_SQL_SET_STATEMENTS_HPP
#define ROWLOCK_POSTGRES_SQL_SET_STATEMENTS_HPP

#include <string>

#include "rowlock/table_name.hpp"

namespace rowlock::sql {

/// The statements for one table; postgres_set_statements.cpp says what each does and takes.
struct postgres_set_statements {
  explicit postgres_set_statements(const postgres_table& table);

  std::string acquire_all;
  std::string acquire_any;
};

}  // namespace rowlock::sql

#endif
