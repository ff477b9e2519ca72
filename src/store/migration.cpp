// The migrations, rendered for a table of any name.
#include <span>
#include <string_view>

#include "rowlock/table_name.hpp"
#include "store/embedded_migrations.hpp"
#include "store/names.hpp"

namespace rowlock {

namespace {

migration rendered(const detail::embedded_migration& embedded, const auto& in_table) {
  return {.number = embedded.number,
          .name = std::string{embedded.name},
          .up = in_table(embedded.up),
          .down = in_table(embedded.down),
          .verify = in_table(embedded.verify)};
}

std::vector<migration> rendered(std::span<const detail::embedded_migration> embedded,
                                const auto& in_table) {
  std::vector<migration> migrations;
  migrations.reserve(embedded.size());
  for (const auto& each : embedded) migrations.push_back(rendered(each, in_table));
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

migration postgres_history(const table_name& table) {
  return rendered(detail::embedded_postgres_history(),
                  [&](std::string_view sql) { return table.in(sql); });
}

migration sqlite_history(const table_name& table) {
  // A trigger's table has no schema in its text.
  const table_name plain{detail::parts_of(table.text()).table};
  return rendered(detail::embedded_sqlite_history(),
                  [&](std::string_view sql) { return plain.in(sql); });
}

migration mysql_history(const table_name& table) {
  return rendered(detail::embedded_mysql_history(),
                  [&](std::string_view sql) { return detail::in_backticks(table, sql); });
}

}  // namespace rowlock
