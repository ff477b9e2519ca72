// The SQL that runs in the application's transaction on MariaDB and MySQL.
#ifndef ROWLOCK_MYSQL_SQL_TRANSACTION_STATEMENTS_HPP
#define ROWLOCK_MYSQL_SQL_TRANSACTION_STATEMENTS_HPP

#include <string>
#include <string_view>

#include "mysql/sql/spelling.hpp"
#include "rowlock/row_lock.hpp"
#include "rowlock/table_name.hpp"

namespace rowlock::sql {

/// `versioned_update`, in backticks, for a $1 that is a text: a text that is no number would be
/// taken for 0 where the column is one.
std::string mysql_versioned_update(const versioned_table& table, mysql_flavour flavour);

/// The statements for one table, on a session that may wait for row locks;
/// mysql_transaction_statements.cpp says what each does and takes.
struct mysql_transaction_statements {
  mysql_transaction_statements(const table_name& table, mysql_flavour flavour);

  std::string look_and_settings;
  std::string lock_row;
  std::string lock_many;
  std::string advance;
  std::string fence_by_writing;
  std::string fence_by_sharing;
  std::string release_with;
  std::string count_failures;

  // For a session that does not wait, and for one that does.
  std::string insert_unowned;
  std::string insert_in_transaction;
  std::string prepare_many;
  std::string prepare_in_transaction;
};

/// The ones that need no table.
namespace mysql {

extern const std::string_view read_committed_once;
extern const std::string_view begin;
extern const std::string_view commit;
extern const std::string_view roll_back;
extern const std::string_view savepoint;
extern const std::string_view roll_back_to_savepoint;
extern const std::string_view release_savepoint;

}  // namespace mysql

}  // namespace rowlock::sql

#endif
