// All SQL that is sent to PostgreSQL, but for the migrations.
#ifndef ROWLOCK_SQL_POSTGRES_STATEMENTS_HPP
#define ROWLOCK_SQL_POSTGRES_STATEMENTS_HPP

#include <string>

#include "rowlock/table_name.hpp"

namespace rowlock::sql {

/// The statements for one table; postgres_statements.cpp says what each does and takes.
///
/// Those for several keys take arrays. Their answers say `place`: which of the requests, counted
/// from 1, a row answers. A request without a row was refused; a look says why.
struct postgres_statements {
  explicit postgres_statements(const table_name& table);

  std::string pin_session;
  std::string schema_exists;
  std::string schema_version;
  std::string take_migration_turn;
  std::string read_committed;

  // Leases, in autocommit.
  std::string acquire;
  std::string acquire_many;
  std::string insert_many;
  std::string renew;
  std::string renew_many;
  std::string release;
  std::string release_many;
  std::string leave_word;
  std::string announcement_channel;

  // In autocommit and in the application's transaction.
  std::string look;
  std::string list;
  std::string prepare;

  // In the application's transaction.
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
