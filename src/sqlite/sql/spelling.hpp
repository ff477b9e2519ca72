// The rendering of SQL texts for a lock table in a SQLite file.
#ifndef ROWLOCK_SQLITE_SQL_SPELLING_HPP
#define ROWLOCK_SQLITE_SQL_SPELLING_HPP

#include <string>
#include <string_view>

#include "rowlock/table_name.hpp"

namespace rowlock::sqlite::sql {

/// Renders `text` for this table. Its placeholders are texts of leases.hpp.
std::string rendered(const table_name& table, std::string_view text);

}  // namespace rowlock::sqlite::sql

#endif
