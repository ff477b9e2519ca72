// All SQL that is sent to MariaDB and MySQL, but for the migrations.
#ifndef ROWLOCK_SQL_MYSQL_STATEMENTS_HPP
#define ROWLOCK_SQL_MYSQL_STATEMENTS_HPP

#include <string>
#include <string_view>

#include "rowlock/table_name.hpp"
#include "rowlock/versioned_table.hpp"

namespace rowlock::sql {

/// Names in backticks: what stands between double quotes is a text here, unless the session says
/// otherwise.
std::string in_backticks(const table_name& table, std::string_view sql);

/// `versioned_update`, in backticks, for a $1 that is a text: a text that is no number would be
/// taken for 0 where the column is one.
std::string mysql_versioned_update(const versioned_table& table);

/// Both understand almost all of it.
enum class mysql_flavour { mariadb, mysql };

/// The statements for one table; mysql_statements.cpp says what each does and takes.
///
/// Those for several keys take a JSON array of arrays, whose order is that of the comment. Texts in
/// it, and all texts elsewhere, are in hexadecimal, so that no character set and no way of quoting
/// matters; but for the type of a key, which is a word.
struct mysql_statements {
  mysql_statements(const table_name& table, mysql_flavour flavour);

  std::string schema_version;
  std::string columns;

  // Looks.
  std::string look;
  std::string look_and_settings;
  std::string list;

  // Leases, one row each, on a session whose statements do not wait for row locks.
  std::string acquire;
  std::string insert;
  std::string renew;
  std::string release;

  // Several.
  std::string take_many;
  std::string insert_many;
  std::string renew_many;
  std::string release_many;
  std::string prepare_many;
  std::string insert_unowned;
  std::string insert_many_unowned;

  // Their rows, without waiting for those that somebody has.
  std::string have_many_at_version;
  std::string have_many_granted;

  // In the transaction of somebody whose session waits.
  std::string lock_row;
  std::string lock_many;
  std::string insert_in_transaction;
  std::string prepare_in_transaction;
  std::string advance;
  std::string fence_by_writing;
  std::string fence_by_sharing;
  std::string release_with;
  std::string count_failures;
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
