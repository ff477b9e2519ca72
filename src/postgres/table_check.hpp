// Whether the table on a server is the one that the migrations made.
#ifndef ROWLOCK_POSTGRES_TABLE_CHECK_HPP
#define ROWLOCK_POSTGRES_TABLE_CHECK_HPP

#include <optional>
#include <string>

#include "postgres/connection.hpp"
#include "rowlock/table_name.hpp"
#include "store/rendered_sql.hpp"

namespace rowlock::postgres {

struct found_table {
  /// Of the last migration that is applied; none if there was none.
  std::optional<int> number;
  /// What is not as its migrations make it, and what to do; empty where all is.
  std::string unfit;
  std::string remedy;
};

/// Throws `error` (rejected) where the table was dropped after its migrations, or is there without
/// the record of them. Two round trips.
found_table find_table(connection& used, detail::rendered_sql& texts, const table_name& table);

/// Throws `error` (rejected) for a table in which a key may have two rows, or that takes what the
/// statements do not expect.
void require_fit(const found_table& found, const table_name& table);

/// Throws `error` (rejected) unless the table is there, at the version of this library, and fit.
/// Two round trips, four for one that is not.
void check_table(connection& used, detail::rendered_sql& texts, const table_name& table);

}  // namespace rowlock::postgres

#endif
