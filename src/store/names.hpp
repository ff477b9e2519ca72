// Checked and quoted names of tables and columns.
#ifndef ROWLOCK_STORE_NAMES_HPP
#define ROWLOCK_STORE_NAMES_HPP

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "rowlock/detail/export.hpp"
#include "rowlock/table_name.hpp"

namespace rowlock::detail {

inline constexpr std::size_t longest_identifier = 63;

/// Returns `"name"`. Throws `error` (misuse) unless it is `[A-Za-z_][A-Za-z0-9_]*` and at most
/// `longest` characters. `what` names the object in the message.
std::string quoted(std::string_view name, std::string_view what,
                   std::size_t longest = longest_identifier);

/// A name as `table` or `schema.table`.
struct name_parts {
  std::optional<std::string> schema;
  std::string table;
};

ROWLOCK_EXPORT name_parts parts_of(std::string_view name);

/// `"name"` or `"schema"."name"`.
std::string quoted_with_schema(std::string_view name, std::string_view what,
                               std::size_t longest = longest_identifier);

/// Replaces double quotes around names by backticks, for MariaDB and MySQL. There a double-quoted
/// text is a string, unless the session sets ANSI_QUOTES.
ROWLOCK_EXPORT std::string with_backticks(std::string sql);
ROWLOCK_EXPORT std::string in_backticks(const table_name& table, std::string_view sql);

}  // namespace rowlock::detail

#endif
