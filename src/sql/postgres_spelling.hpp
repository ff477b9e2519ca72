// How a statement is written for a lock table on PostgreSQL.
#ifndef ROWLOCK_SQL_POSTGRES_SPELLING_HPP
#define ROWLOCK_SQL_POSTGRES_SPELLING_HPP

#include <string>
#include <string_view>

#include "rowlock/postgres_table.hpp"

namespace rowlock::sql {

/// `sql` for this table. `{long_ago}` is the time by which a lease must have run out before anybody
/// else may have the row: now, or as long ago as clocks may differ. `{skew_ms}` is that difference.
std::string in_postgres(const postgres_table& table, std::string_view sql);

}  // namespace rowlock::sql

#endif
