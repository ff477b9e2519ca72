// Names of tables and columns, which cannot be bound: checked, then quoted once.
#ifndef ROWLOCK_SQL_IDENTIFIER_HPP
#define ROWLOCK_SQL_IDENTIFIER_HPP

#include <cstddef>
#include <string>
#include <string_view>

namespace rowlock::sql {

inline constexpr std::size_t longest_identifier = 63;

/// `"name"`. Throws `error` (misuse) unless it is `[A-Za-z_][A-Za-z0-9_]*` and at most `longest`
/// characters; `what` says in the message whose name it is.
std::string quoted(std::string_view name, std::string_view what,
                   std::size_t longest = longest_identifier);

/// `"name"` or `"schema"."name"`.
std::string quoted_with_schema(std::string_view name, std::string_view what,
                               std::size_t longest = longest_identifier);

}  // namespace rowlock::sql

#endif
