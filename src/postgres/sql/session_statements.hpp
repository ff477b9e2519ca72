// What PostgreSQL is asked about the session, the server and the schema.
#ifndef ROWLOCK_POSTGRES_SQL_SESSION_STATEMENTS_HPP
#define ROWLOCK_POSTGRES_SQL_SESSION_STATEMENTS_HPP

#include <string>

#include "rowlock/table_name.hpp"

namespace rowlock::sql {

/// The statements for one table; postgres_session_statements.cpp says what each does and takes.
struct postgres_session_statements {
  explicit postgres_session_statements(const table_name& table);

  std::string pin_session;
  std::string found_table;
  std::string drop_companions;
  std::string restore_record;
  std::string schema_version;
  std::string read_committed;
  std::string weak_settings;
  std::string take_migration_turn;
};

}  // namespace rowlock::sql

#endif
