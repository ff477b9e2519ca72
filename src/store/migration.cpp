// The migrations, rendered for a table of any name.
#include <span>
#include <string_view>

#include "rowlock/table_name.hpp"
#include "store/embedded_migrations.hpp"
#include "store/names.hpp"

namespace rowlock {

namespace {

std::vector<migration> rendered(std::span<const detail::embedded_migration> embedded,
                                const auto& in_table) {
  std::vector<migration> migrations;
  migrations.reserve(embedded.size());
  for (const auto& each : embedded) {
    migrations.push_back({.number = each.number,
                          .name = std::string{each.name},
                          .up = in_table(each.up),
                          .down = in_table(each.down)});
  }
  return migrations;
}

}  // namespace

std::vector<migration> postgres_migrations(const table_name& table) {
  return rendered(detail::embedded_postgres_migrations(),
                  [&](std::string_view sql) { return table.in(sql); });
}

std::vector<migration> sqlite_migrations(const table_name& table) {
  return rendered(detail::embedded_sqlite_migrations(),
                  [&](std::string_view sql) { return table.in(sql); });
}

std::vector<migration> mysql_migrations(const table_name& table) {
  return rendered(detail::embedded_mysql_migrations(),
                  [&](std::string_view sql) { return detail::in_backticks(table, sql); });
}

}  // namespace rowlock
