// This library on PostgreSQL, and its limit: its own statements in a bare loop over the same
// driver.
#include "race/postgres.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <regex>
#include <stdexcept>
#include <string>
#include <utility>

#include "postgres/sql/leases.hpp"
#include "postgres/sql/spelling.hpp"
#include "race/connections.hpp"
#include "race/own_cpu.hpp"
#include "race/rowlock_contender.hpp"
#include "rowlock/port/requests.hpp"
#include "rowlock/postgres_store.hpp"
#include "rowlock/soci_store.hpp"

namespace rowlock::race {

namespace {

postgres_options options_in(const place& where) {
  return {.table = lock_table_in(where),
          .pool_size = where.connections,
          .pool_timeout = std::chrono::minutes{1}};
}

/// The server as SOCI reads it; its URL is as script/support/throwaway-postgres writes it.
std::string soci_target(const place& where) {
  std::smatch parts;
  const std::regex url{"[a-z]+://([^@]*)@([^:/]+):([0-9]+)/(.*)"};
  if (!std::regex_match(where.server, parts, url)) {
    throw std::runtime_error{"ROWLOCK_TEST_POSTGRES is not postgresql://user@host:port/database"};
  }
  return "postgresql://user=" + parts[1].str() + " host=" + parts[2].str() +
         " port=" + parts[3].str() + " dbname=" + parts[4].str();
}

contender_factory open_through_soci(const place& where) {
  return through_lock_table(
      std::make_unique<soci_store>(soci_target(where),
                                   soci_options{.table = lock_table_in(where),
                                                .pool_size = where.connections,
                                                .pool_timeout = std::chrono::minutes{1}}),
      {.ttl = ttl});
}

/// With a pool of connections that does nothing else.
class bare_connections : public connections {
 public:
  explicit bare_connections(const place& where)
      : connections{where, statements(lock_table_in(where))} {}

 private:
  static std::vector<prepared_statement> statements(const postgres_table& table) {
    return {{"acquire", postgres::sql::rendered(table, postgres::sql::acquire_free)},
            {"release", postgres::sql::rendered(table, postgres::sql::release)}};
  }
};

/// Prepared, in autocommit. Creates no rows and does not wait.
class bare_contender final : public polling_contender {
 public:
  explicit bare_contender(connections& pool) : pool_{pool} {}

  bool take(const lock_key& key) override {
    key_ = &key;
    owner_ = make_owner_id().text;
    const auto connection = pool_.borrow();
    pqxx::nontransaction autocommit{*connection};
    const auto granted =
        autocommit.exec_prepared("acquire", key.type, key.source_id, owner_, "bench",
                                 std::chrono::microseconds{ttl}.count(), none_);
    if (granted.empty()) return false;
    version_ = granted[0][1].as<std::int64_t>();
    return true;
  }
  void give_back() override {
    const auto connection = pool_.borrow();
    pqxx::nontransaction autocommit{*connection};
    const auto released =
        autocommit.exec_prepared("release", key_->type, key_->source_id, owner_, version_, false);
    if (released.empty()) throw std::runtime_error{"not released"};
  }

 private:
  connections& pool_;
  const lock_key* key_ = nullptr;
  std::string owner_;
  std::int64_t version_ = 0;
  std::optional<std::string> none_;
};

}  // namespace

std::unique_ptr<store> store_in(const place& where) {
  return std::make_unique<postgres_store>(where.server, options_in(where));
}

table_name lock_table_in(const place& where) { return table_name{where.schema + ".shared_lock"}; }

void build_lock_table(const place& where, history_option history) {
  migrate_postgres(where.server, lock_table_in(where), history);
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
      "SELECT $1, i::text, 1 FROM generate_series(1, $2::bigint) i",
      other_key(1).type, where.rows);
}

std::vector<protocol> postgres_protocols() {
  using opening = std::function<contender_factory(const place& where)>;
  const auto through = [](std::string name, opening open,
                          history_option history = history_option::unchanged) {
    return protocol{.name = std::move(name),
                    .runs_on = engine::postgres,
                    .build = [history](const place& where) { build_lock_table(where, history); },
                    .open = std::move(open)};
  };
  const opening through_the_table = [](const place& where) {
    return through_lock_table(store_in(where), {.ttl = ttl});
  };
  const opening ungrouped = [](const place& where) {
    return through_lock_table(store_in(where), {.ttl = ttl, .batching = {.max_batch = 1}});
  };
  const opening bare = contenders_sharing<bare_contender, bare_connections>;
  return {
      through("rowlock", through_the_table),
      through("rowlock_soci", open_through_soci),
      through("rowlock_history", through_the_table, history_option::with),
      through("rowlock_ungrouped", ungrouped),
      through("rowlock_durable_release",
              [](const place& where) {
                return through_lock_table(store_in(where), {.ttl = ttl, .durable_release = true});
              }),
      through("rowlock_store",
              [](const place& where) { return through_the_port(store_in(where)); }),
      through("bare", bare),
      through("bare_and_ungrouped",
              [bare, ungrouped](const place& where) {
                return in_turns_with(bare(where), ungrouped(where));
              }),
  };
}

}  // namespace rowlock::race
