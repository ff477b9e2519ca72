// The SQL that reads rows on PostgreSQL, makes them fit, and leaves word in them.
#ifndef ROWLOCK_POSTGRES_SQL_ROW_STATEMENTS_HPP
#define ROWLOCK_POSTGRES_SQL_ROW_STATEMENTS_HPP

#include <string>

#include "rowlock/table_name.hpp"

namespace rowlock::sql {

/// The statements for one table; postgres_row_statements.cpp says what each does and takes.
struct postgres_row_statements {
  explicit postgres_row_statements(const postgres_table& table);

  std::string look;
  std::string leave_word;
  std::string announcement_channel;
  std::string prepare;
  std::string list;
};

}  // namespace rowlock::sql

#endif
