// The SQL that grants, renews and ends leases on PostgreSQL.
#ifndef ROWLOCK_POSTGRES_SQL_LEASE_STATEMENTS_HPP
#define ROWLOCK_POSTGRES_SQL_LEASE_STATEMENTS_HPP

#include <string>

#include "rowlock/table_name.hpp"

namespace rowlock::sql {

/// The statements for one table; postgres_lease_statements.cpp says what each does and takes.
struct postgres_lease_statements {
  explicit postgres_lease_statements(const postgres_table& table,
                                     bool asynchronous_release = false);

  std::string acquire;
  std::string acquire_many;
  std::string insert;
  std::string insert_many;
  std::string renew;
  std::string renew_many;
  std::string release;
  std::string release_many;
  std::string handoff;
};

}  // namespace rowlock::sql

#endif
