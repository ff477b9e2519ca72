// This library, on MariaDB through SOCI.
#include "race/rowlock_on_mariadb.hpp"

#include <memory>
#include <utility>

#include "cli/database_url.hpp"
#include "race/keys.hpp"
#include "race/mariadb_connection.hpp"
#include "race/rowlock_contender.hpp"
#include "rowlock/soci_store.hpp"

namespace rowlock::race {

namespace {

std::string target_of(const place& where) { return database_url{where.server}.target(); }

std::unique_ptr<store> rows_in(const place& where) {
  return std::make_unique<soci_store>(target_of(where),
                                      soci_options{.table = mariadb_table_in(where),
                                                   .pool_size = where.connections,
                                                   .pool_timeout = std::chrono::minutes{1}});
}

}  // namespace

table_name mariadb_table_in(const place& where) {
  return table_name{where.schema + ".shared_lock"};
}

void build_on_mariadb(const place& where) {
  migrate_soci(target_of(where), mariadb_table_in(where));
  mariadb_connection connection{where.server};
  for (unsigned i = 0; i < where.keys; ++i) {
    const auto key = key_of(i);
    connection.execute("INSERT INTO " + where.schema +
                       ".shared_lock (lock_type, source_id, version) VALUES ('" + key.type +
                       "', '" + key.source_id + "', 1)");
  }
}

protocol rowlock_on_mariadb(std::string name, const batching_options& batching) {
  return {.name = std::move(name),
          .runs_on = engine::mariadb,
          .build = build_on_mariadb,
          .open = [batching](const place& where) {
            return through_lock_table(rows_in(where), {.ttl = ttl, .batching = batching});
          }};
}

}  // namespace rowlock::race
