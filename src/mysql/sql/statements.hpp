// All SQL that is sent to MariaDB and MySQL, but for the migrations.
#ifndef ROWLOCK_MYSQL_SQL_STATEMENTS_HPP
#define ROWLOCK_MYSQL_SQL_STATEMENTS_HPP

#include <string>
#include <string_view>

#include "mysql/sql/many_statements.hpp"
#include "mysql/sql/operator_statements.hpp"
#include "mysql/sql/set_statements.hpp"
#include "mysql/sql/spelling.hpp"
#include "mysql/sql/transaction_statements.hpp"
#include "rowlock/table_name.hpp"

namespace rowlock::sql {

/// The statements for one table; mysql_statements.cpp says what each does and takes.
///
/// Those for several keys take a JSON array of arrays, whose order is that of the comment. Texts in
/// it, and all texts elsewhere, are in hexadecimal, so that no character set and no way of quoting
/// matters; but for the type of a key, which is a word.
struct mysql_statements : mysql_transaction_statements,
                          mysql_many_statements,
                          mysql_set_statements,
                          mysql_operator_statements {
  mysql_statements(const table_name& table, mysql_flavour flavour);

  std::string schema_version;
  std::string look_for_table;
  std::string drop_companions;
  std::string shape;
  std::string definition;

  // Looks.
  std::string look;
  std::string look_in_transaction;
  std::string list;

  // Leases, one row each, on a session whose statements do not wait for row locks.
  std::string acquire;
  std::string insert;
  std::string renew;
  std::string release;
  std::string handoff;
};

/// The ones that need no table.
namespace mysql {

extern const std::string_view current_database;
extern const std::string_view do_nothing;
extern const std::string_view settings;
extern const std::string_view settings_of_the_server;
extern const std::string_view read_committed_from_now_on;
extern const std::string_view pin_mariadb;
extern const std::string_view pin_mysql;
extern const std::string_view take_migration_turn;

}  // namespace mysql

}  // namespace rowlock::sql

#endif
