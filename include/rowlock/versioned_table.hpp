// The application's own rows that carry a version.
#ifndef ROWLOCK_VERSIONED_TABLE_HPP
#define ROWLOCK_VERSIONED_TABLE_HPP

#include <cstdint>
#include <string>
#include <variant>

namespace rowlock {

/// A table of the application with an id and an integer version column. Each name is
/// `[A-Za-z_][A-Za-z0-9_]{0,62}`, the table may have a schema before a dot; other names are refused
/// as misuse.
struct versioned_table {
  std::string table;
  std::string id_column;
  std::string version_column;
};

/// The id of one such row.
using row_id = std::variant<std::int64_t, std::string>;

}  // namespace rowlock

#endif
