// Names of tables and columns, which cannot be bound: checked, then quoted once.
#ifndef ROWLOCK_STORE_NAMES_HPP
#define ROWLOCK_STORE_NAMES_HPP

#include <cstddef>
#include <string>
#include <string_view>

#include "rowlock/table_name.hpp"

namespace rowlock::sql {

inline constexpr std::size_t longest_identifier = 63;

/// `"name"`. Throws `error` (misuse) unless it is `[A-Za-z_][A-Za-z0-9_]*` and at most `longest`
/// characters; `what` says in the message whose name it is.
std::string quoted(std::string_view name, std::string_view what,
                   std::size_t longest = longest_identifier);

/// `"name"` or `"schema"."name"`.
std::string quoted_with_schema(std::string_view name, std::string_view what,
                               std::size_t longest = longest_identifier);

/// Names in backticks, for MariaDB and MySQL, where what stands between double quotes is a text
/// unless the session says otherwise.
std::string with_backticks(std::string sql);
std::string in_backticks(const table_name& table, std::string_view sql);

}  // namespace rowlock::sql

#endif
