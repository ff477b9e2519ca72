// All SQL that is sent to PostgreSQL, but for the migrations.
#ifndef ROWLOCK_SQL_POSTGRES_STATEMENTS_HPP
#define ROWLOCK_SQL_POSTGRES_STATEMENTS_HPP

#include <string>

#include "rowlock/table_name.hpp"
#include "sql/postgres_transaction_statements.hpp"

namespace rowlock::sql {

/// The statements for one table; postgres_statements.cpp says what each does and takes.
///
/// Those for several keys take arrays. Their answers say `place`: which of the requests, counted
/// from 1, a row answers. A request without a row was refused; a look says why.
struct postgres_statements : postgres_transaction_statements {
  explicit postgres_statements(const table_name& table);

  std::string pin_session;
  std::string schema_exists;
  std::string schema_version;
  std::string take_migration_turn;
  std::string read_committed;
  std::string weak_settings;

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
};

}  // namespace rowlock::sql

#endif
