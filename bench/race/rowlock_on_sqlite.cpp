// This library, on a SQLite file.
#include "race/rowlock_on_sqlite.hpp"

#include <memory>
#include <utility>

#include "race/rowlock_contender.hpp"
#include "rowlock/sqlite_store.hpp"

namespace rowlock::race {

namespace {

std::unique_ptr<store> rows_in(const place& where) {
  return std::make_unique<sqlite_store>(sqlite_file_in(where),
                                        sqlite_options{.turn_timeout = std::chrono::minutes{1}});
}

}  // namespace

std::string sqlite_file_in(const place& where) { return where.schema + "/race.db"; }

void build_on_sqlite(const place& where) { migrate_sqlite(sqlite_file_in(where)); }

protocol rowlock_on_sqlite(std::string name) {
  return {
      .name = std::move(name),
      .runs_on = engine::sqlite,
      .build = build_on_sqlite,
      .open = [](const place& where) { return through_lock_table(rows_in(where), {.ttl = ttl}); }};
}

}  // namespace rowlock::race
