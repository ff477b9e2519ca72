// The server's own count of statements, for tests that have the server for themselves.
#ifndef ROWLOCK_TESTS_POSTGRES_POSTGRES_STATEMENTS_HPP
#define ROWLOCK_TESTS_POSTGRES_POSTGRES_STATEMENTS_HPP

#include "support/postgres_schema.hpp"

namespace rowlock::tests {

/// Makes `pg_stat_statements` begin anew.
inline void count_statements() {
  // Once per database; other tests may be doing the same.
  postgres_schema::execute(
      "select pg_advisory_xact_lock(4711); create extension if not exists pg_stat_statements");
  // From PostgreSQL 18 on it takes statements on tables of the same name for one, whatever their
  // schema, and shows the text of the first: which would be that of an earlier test.
  postgres_schema::execute("select pg_stat_statements_reset()");
}

}  // namespace rowlock::tests

#endif
