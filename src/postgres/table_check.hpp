// The check whether a PostgreSQL table is as its migrations make it.
#ifndef ROWLOCK_POSTGRES_TABLE_CHECK_HPP
#define ROWLOCK_POSTGRES_TABLE_CHECK_HPP

#include <optional>
#include <string>

#include "postgres/connection.hpp"
#include "rowlock/table_name.hpp"
#include "store/rendered_sql.hpp"
#include "store/schema_check.hpp"

namespace rowlock::postgres {

struct found_table {
  /// The number of the last applied migration; none if there is none.
  std::optional<int> number;
  /// What differs from the migrations; none if nothing does.
  std::optional<detail::unfitness> unfit;
  /// The table is as the migrations make it, and nothing says that they were applied.
  bool has_lost_its_record = false;
};

/// Throws `error` (rejected) if the table was dropped after its migrations, if it differs from what
/// they make and nothing says that they were applied, or if row-level security keeps the role from
/// rows that it has the privilege for. Two round trips.
found_table find_table(connection& used, detail::rendered_sql& texts, const table_name& table);

/// Throws `error` (rejected) for a table in which a key may have two rows, or that accepts values
/// which the statements do not expect.
void require_fit(const found_table& found, const table_name& table);

/// Throws `error` (rejected) unless the table exists, has the version of this library, and is fit.
/// Two round trips, four for a table that is not fit.
void check_table(connection& used, detail::rendered_sql& texts, const table_name& table);

}  // namespace rowlock::postgres

#endif
