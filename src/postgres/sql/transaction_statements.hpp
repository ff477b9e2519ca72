// The SQL that runs in the application's transaction on PostgreSQL.
#ifndef ROWLOCK_POSTGRES_SQL_TRANSACTION_STATEMENTS_HPP
#define ROWLOCK_POSTGRES_SQL_TRANSACTION_STATEMENTS_HPP

#include <string>

#include "rowlock/table_name.hpp"

namespace rowlock::sql {

/// The statements for one table; postgres_transaction_statements.cpp says what each does and takes.
struct postgres_transaction_statements {
  explicit postgres_transaction_statements(const postgres_table& table);

  std::string begin;
  std::string commit;
  std::string roll_back;

  std::string lock_rows;
  std::string savepoint;
  std::string roll_back_to_savepoint;
  std::string release_savepoint;
  std::string advance;
  std::string count_failures;
  std::string fence_by_writing;
  std::string fence_by_sharing;
  std::string release_with;

  // What became of such a transaction.
  std::string fate;
};

}  // namespace rowlock::sql

#endif
