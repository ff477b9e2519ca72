// All SQL that is sent to PostgreSQL, but for the migrations.
//
// What the statements have in common:
//   - clock_timestamp(), not now(): now() stands still in a transaction, so a lease could be born
//     expired.
//   - The new version is greatest(version + 1, microseconds since 1970), from the row as it is.
//   - A lease statement takes its row with SKIP LOCKED and then writes it by its ctid and its key:
//   it
//     waits for nobody's transaction, and a refused one writes nothing, not even a transaction id.
//   - Arrays of statements that are prepared hide in queries of their own, so that PostgreSQL
//     estimates any number of keys alike: one plan, by the primary key, serves all and is kept.
//   - Every insert of a key is behind pg_try_advisory_xact_lock of that key and table, so inserters
//     do not wait for each other's transactions either. A lock_rows that creates many keys holds
//     gates that it shares with others of its kind instead, 64 at most. A collision of hashes costs
//     a refusal.
#ifndef ROWLOCK_POSTGRES_SQL_STATEMENTS_HPP
#define ROWLOCK_POSTGRES_SQL_STATEMENTS_HPP

#include <chrono>

#include "base/limits.hpp"
#include "postgres/sql/lease_statements.hpp"
#include "postgres/sql/operator_statements.hpp"
#include "postgres/sql/row_statements.hpp"
#include "postgres/sql/session_statements.hpp"
#include "postgres/sql/set_statements.hpp"
#include "postgres/sql/transaction_statements.hpp"
#include "rowlock/table_name.hpp"

namespace rowlock::sql {

/// The statements for one table.
///
/// Those for several keys take arrays. Their answers say `place`: which of the requests, counted
/// from 1, a row answers. A request without a row was refused; a look says why.
struct postgres_statements : postgres_session_statements,
                             postgres_lease_statements,
                             postgres_set_statements,
                             postgres_row_statements,
                             postgres_operator_statements,
                             postgres_transaction_statements {
  /// Throws `error` (misuse) for a clock_skew that cannot be.
  explicit postgres_statements(const postgres_table& table, bool asynchronous_release = false)
      : postgres_session_statements{table.table},
        postgres_lease_statements{table, asynchronous_release},
        postgres_set_statements{table},
        postgres_row_statements{table},
        postgres_operator_statements{table},
        postgres_transaction_statements{table},
        clock_skew{table.clock_skew} {
    detail::check_clock_skew(clock_skew);
  }

  /// How long ago a lease must have run out, for those of them that ask.
  std::chrono::milliseconds clock_skew;
};

}  // namespace rowlock::sql

#endif
