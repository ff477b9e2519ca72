// Checked and quoted names of tables and columns.
#include "store/names.hpp"

#include <algorithm>

#include "rowlock/error.hpp"

namespace rowlock {

namespace {

constexpr std::string_view plain_name = "shared_lock";
constexpr std::size_t longest_table = 56;  // names of its companions have up to 7 characters more

bool is_name_char(char c) noexcept {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace

table_name::table_name() : text_{plain_name} {}

table_name::table_name(std::string_view name) : text_{name} {
  (void)detail::quoted_with_schema(text_, "the lock table", longest_table);
}

std::string table_name::in(std::string_view sql) const {
  std::string rendered;
  while (!sql.empty()) {
    auto found = sql.find(plain_name);
    while (found != std::string_view::npos && found > 0 && is_name_char(sql[found - 1])) {
      found = sql.find(plain_name, found + 1);
    }
    rendered += sql.substr(0, found);
    if (found == std::string_view::npos) break;
    sql.remove_prefix(found + plain_name.size());
    std::size_t suffix = 0;
    while (suffix < sql.size() && is_name_char(sql[suffix])) ++suffix;
    rendered +=
        detail::quoted_with_schema(text_ + std::string{sql.substr(0, suffix)}, "the lock table");
    sql.remove_prefix(suffix);
  }
  return rendered;
}

}  // namespace rowlock

namespace rowlock::detail {

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

name_parts parts_of(std::string_view name) {
  const auto dot = name.find('.');
  if (dot == std::string_view::npos) return {.schema = std::nullopt, .table = std::string{name}};
  return {.schema = std::string{name.substr(0, dot)}, .table = std::string{name.substr(dot + 1)}};
}

std::string quoted_with_schema(std::string_view name, std::string_view what, std::size_t longest) {
  const auto [schema, table] = parts_of(name);
  if (table.find('.') != std::string::npos) {
    throw error{errc::misuse,
                "the name of " + std::string{what} + " has two dots: write NAME or SCHEMA.NAME"};
  }
  const auto plain = quoted(table, what, longest);
  return schema ? quoted(*schema, "the schema of " + std::string{what}) + '.' + plain : plain;
}

std::string with_backticks(std::string sql) {
  std::replace(sql.begin(), sql.end(), '"', '`');
  return sql;
}

std::string in_backticks(const table_name& table, std::string_view sql) {
  return with_backticks(table.in(sql));
}

}  // namespace rowlock::detail
