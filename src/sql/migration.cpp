// The migrations, for a table of any name.
#include "rowlock/migration.hpp"

#include <span>

#include "sql/embedded_migrations.hpp"

namespace rowlock {

namespace {

std::vector<migration> rendered(std::span<const sql::embedded_migration> embedded,
                                const table_name& table) {
  std::vector<migration> migrations;
  migrations.reserve(embedded.size());
  for (const auto& each : embedded) {
    migrations.push_back({.number = each.number,
                          .name = std::string{each.name},
                          .up = table.in(each.up),
                          .down = table.in(each.down)});
  }
  return migrations;
}

}  // namespace

std::vector<migration> postgres_migrations(const table_name& table) {
  return rendered(sql::embedded_postgres_migrations(), table);
}

std::vector<migration> sqlite_migrations(const table_name& table) {
  return rendered(sql::embedded_sqlite_migrations(), table);
}

}  // namespace rowlock
