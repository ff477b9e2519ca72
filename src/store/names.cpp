// The name of the lock table, checked and quoted once.
#include "store/names.hpp"

#include "rowlock/table_name.hpp"

namespace rowlock {

namespace {

constexpr std::string_view plain_name = "shared_lock";
constexpr std::size_t longest_table = 56;  // its companions' names are up to 7 longer

bool is_word(char c) noexcept {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace

table_name::table_name() : text_{plain_name} {}

table_name::table_name(std::string_view name) : text_{name} {
  (void)sql::quoted_with_schema(text_, "the lock table", longest_table);
}

std::string table_name::in(std::string_view sql) const {
  std::string rendered;
  while (!sql.empty()) {
    auto found = sql.find(plain_name);
    while (found != std::string_view::npos && found > 0 && is_word(sql[found - 1])) {
      found = sql.find(plain_name, found + 1);
    }
    rendered += sql.substr(0, found);
    if (found == std::string_view::npos) break;
    sql.remove_prefix(found + plain_name.size());
    std::size_t suffix = 0;
    while (suffix < sql.size() && is_word(sql[suffix])) ++suffix;
    rendered +=
        sql::quoted_with_schema(text_ + std::string{sql.substr(0, suffix)}, "the lock table");
    sql.remove_prefix(suffix);
  }
  return rendered;
}

}  // namespace rowlock
