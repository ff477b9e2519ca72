// This library on MariaDB through SOCI, and its limit: its own statements through the C library.
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cli/database_url.hpp"
#include "mysql/sql/leases.hpp"
#include "mysql/sql/spelling.hpp"
#include "race/mariadb_connection.hpp"
#include "race/placeholders.hpp"
#include "race/protocol.hpp"
#include "race/rowlock_contender.hpp"
#include "rowlock/port/requests.hpp"
#include "rowlock/soci_store.hpp"

namespace rowlock::race {

namespace {

table_name table_in(const place& where) { return table_name{where.schema + ".shared_lock"}; }

std::string target_of(const place& where) { return database_url{where.server}.target(); }

std::string quoted(const std::string& text) { return '\'' + text + '\''; }

/// With rows for all keys of the measurement.
void build(const place& where, history_option history = history_option::unchanged) {
  migrate_soci(target_of(where), table_in(where), history);
  mariadb_connection connection{where.server};
  for (unsigned i = 0; i < where.keys; ++i) {
    const auto key = key_of(i);
    connection.execute("INSERT INTO " + where.schema +
                       ".shared_lock (lock_type, source_id, version) VALUES (" + quoted(key.type) +
                       ", " + quoted(key.source_id) + ", 1)");
  }
}

protocol rowlock_protocol(std::string name, const batching_options& batching,
                          history_option history = history_option::unchanged) {
  return {.name = std::move(name),
          .runs_on = engine::mariadb,
          .build = [history](const place& where) { build(where, history); },
          .open =
              [batching](const place& where) {
                return through_lock_table(
                    std::make_unique<soci_store>(
                        target_of(where), soci_options{.table = table_in(where),
                                                       .pool_size = where.connections,
                                                       .pool_timeout = std::chrono::minutes{1}}),
                    {.ttl = ttl, .batching = batching});
              }};
}

struct bare_statements {
  explicit bare_statements(const place& at)
      : where{at},
        acquire{text_of(at, mysql::sql::acquire)},
        release{text_of(at, mysql::sql::release)} {}

  place where;
  std::string acquire;
  std::string release;

 private:
  static std::string text_of(const place& at, std::string_view text) {
    return mysql::sql::rendered(table_in(at), mysql::sql::flavour::mariadb, text);
  }
};

/// In autocommit at READ COMMITTED, with a connection of its own. Not prepared, as SOCI sends them.
/// Creates no rows and does not wait.
class bare_contender final : public polling_contender {
 public:
  explicit bare_contender(const bare_statements& shared)
      : connection_{shared.where.server}, sql_{shared} {
    connection_.execute("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
  }

  bool take(const lock_key& key) override {
    key_ = &key;
    owner_ = make_owner_id().text;
    const auto ttl_us = std::to_string(std::chrono::microseconds{ttl}.count());
    const auto changed = connection_.execute(
        with(sql_.acquire, {quoted(key.type), quoted(key.source_id), quoted(owner_), "'bench'",
                            ttl_us, "NULL", "0", "0", "NULL"}));
    version_ = std::to_string(changed.insert_id);
    return changed.affected == 1;
  }
  void give_back() override {
    const auto changed =
        connection_.execute(with(sql_.release, {quoted(key_->type), quoted(key_->source_id),
                                                quoted(owner_), version_, "0", "0", "0"}));
    if (changed.affected != 1) throw std::runtime_error{"not released"};
  }

 private:
  mariadb_connection connection_;
  const bare_statements& sql_;
  const lock_key* key_ = nullptr;
  std::string owner_;
  std::string version_;
};

}  // namespace

std::vector<protocol> mariadb_protocols() {
  return {
      rowlock_protocol("rowlock_mariadb", {}),
      rowlock_protocol("rowlock_mariadb_ungrouped", {.max_batch = 1}),
      rowlock_protocol("rowlock_mariadb_history", {}, history_option::with),
      {.name = "bare_mariadb",
       .runs_on = engine::mariadb,
       .build = [](const place& where) { build(where); },
       .open = contenders_sharing<bare_contender, bare_statements>},
  };
}

}  // namespace rowlock::race
