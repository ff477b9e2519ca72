// Names of tables and columns, checked and quoted.
#include <algorithm>

#include "rowlock/error.hpp"
#include "store/names.hpp"

namespace rowlock::sql {

namespace {

bool is_letter(char c) noexcept {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

bool is_letter_or_digit(char c) noexcept { return is_letter(c) || (c >= '0' && c <= '9'); }

}  // namespace

std::string quoted(std::string_view name, std::string_view what, std::size_t longest) {
  if (name.empty() || name.size() > longest || !is_letter(name.front()) ||
      !std::all_of(name.begin(), name.end(), is_letter_or_digit)) {
    throw error{errc::misuse, "the name of " + std::string{what} +
                                  " must be a letter or _, then letters, digits and _, at most " +
                                  std::to_string(longest) + " characters"};
  }
  return '"' + std::string{name} + '"';
}

std::string quoted_with_schema(std::string_view name, std::string_view what, std::size_t longest) {
  const auto dot = name.find('.');
  if (dot == std::string_view::npos) return quoted(name, what, longest);
  return quoted(name.substr(0, dot), "the schema of " + std::string{what}) + '.' +
         quoted(name.substr(dot + 1), what, longest);
}

std::string with_backticks(std::string sql) {
  std::replace(sql.begin(), sql.end(), '"', '`');
  return sql;
}

std::string in_backticks(const table_name& table, std::string_view sql) {
  return with_backticks(table.in(sql));
}

}  // namespace rowlock::sql
