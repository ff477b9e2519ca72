// This library, on PostgreSQL.
#include "race/rowlock_on_postgres.hpp"

#include <memory>
#include <utility>

#include "race/connections.hpp"
#include "race/keys.hpp"
#include "race/rowlock_contender.hpp"
#include "rowlock/postgres_store.hpp"

namespace rowlock::race {

namespace {

postgres_options options_in(const place& where) {
  return {.table = lock_table_in(where),
          .pool_size = where.connections,
          .pool_timeout = std::chrono::minutes{1}};
}

}  // namespace

std::unique_ptr<store> store_in(const place& where) {
  return std::make_unique<postgres_store>(where.server, options_in(where));
}

table_name lock_table_in(const place& where) { return table_name{where.schema + ".shared_lock"}; }

void build_in(const place& where) {
  migrate_postgres(where.server, lock_table_in(where));
  const auto connection = connect(where);
  pqxx::nontransaction autocommit{*connection};
  autocommit.exec_params(
      "INSERT INTO shared_lock (lock_type, source_id, version) VALUES ($1, $2, 1)", hot_key().type,
      hot_key().source_id);
  autocommit.exec_params(
      "INSERT INTO shared_lock (lock_type, source_id, version) "
      "SELECT $1, i::text, 1 FROM generate_series(0, $2::bigint - 1) i",
      key_of(0).type, where.keys);
  autocommit.exec_params(
      "INSERT INTO shared_lock (lock_type, source_id, version) "
      "SELECT 'other', i::text, 1 FROM generate_series(1, $1::bigint) i",
      where.rows);
  autocommit.exec("VACUUM ANALYZE shared_lock");
}

protocol rowlock_on_postgres(std::string name, const batching_options& batching) {
  return {.name = std::move(name),
          .runs_on = engine::postgres,
          .build = build_in,
          .open = [batching](const place& where) {
            return through_lock_table(store_in(where), {.ttl = ttl, .batching = batching});
          }};
}

protocol rowlock_releasing_asynchronously(std::string name) {
  return {.name = std::move(name),
          .runs_on = engine::postgres,
          .build = build_in,
          .open = [](const place& where) {
            auto options = options_in(where);
            options.asynchronous_release = true;
            return through_lock_table(std::make_unique<postgres_store>(where.server, options),
                                      {.ttl = ttl});
          }};
}

protocol rowlock_store_on_postgres(std::string name) {
  return {.name = std::move(name),
          .runs_on = engine::postgres,
          .build = build_in,
          .open = [](const place& where) { return through_the_port(store_in(where)); }};
}

}  // namespace rowlock::race
