// Writes app_connection once for all databases.
#ifndef ROWLOCK_TESTS_SUPPORT_APPLICATION_ON_HPP
#define ROWLOCK_TESTS_SUPPORT_APPLICATION_ON_HPP

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rowlock/row_lock.hpp"
#include "rowlock/row_transaction.hpp"
#include "support/application.hpp"

namespace rowlock::tests {

/// The functions of the library, which are declared later, by the header of the database.
template <class Transaction>
outcome<std::int64_t> version_of(Transaction& used, const versioned_table& table,
                                 const row_id& id) {
  return read_version(used, table, id);
}
template <class Transaction>
commit_result commit_on(Transaction& used, const versioned_table& table, const row_id& id,
                        std::int64_t seen) {
  return try_commit(used, table, id, seen);
}

/// `Database` has the types `transaction` and `connection`, a member `table`, and functions
/// `lock_rows`, `write_note` and `notes` on a transaction, where the library or the driver spells
/// them differently from database to database. If it has entities, it also has `entities`, which
/// returns what the functions on a row of the application take, `execute`, and `seats`.
template <class Database>
class app_transaction_on final : public app_transaction {
 public:
  using transaction = typename Database::transaction;
  using rows = row_transaction<transaction>;

  explicit app_transaction_on(const Database& database) : database_{database} {}
  app_transaction_on(const Database& database, transaction& used)
      : database_{database}, used_{&used} {}

  std::optional<refusal> begin(typename Database::connection& connection) {
    auto refused = rows::begin(owned_, connection, std::chrono::seconds{1});
    if (!refused) used_ = &*owned_;
    return refused;
  }

  outcome<row_lock> lock_rows(const lock_keys& keys, const retry_policy& wait) override {
    return database_.lock_rows(*used_, keys, wait);
  }
  outcome<version> read_version(const lock_key& key) override {
    return rows::read(*used_, key, database_.table);
  }
  commit_result try_commit(const lock_key& key, version seen) override {
    return rows::try_commit(*used_, key, seen, database_.table);
  }
  void fence(const fenced_leases& leases) override {
    rows::fence(*used_, leases, {}, database_.table);
  }
  void release_with(const fenced_leases& leases, const release_options& options) override {
    rows::release_with(*used_, leases, options, database_.table);
  }
  void commit() override { rows::commit(*used_); }
  void write_note(const std::string& text) override { database_.write_note(*used_, text); }
  std::vector<std::string> notes() override { return database_.notes(*used_); }

  outcome<void> lock_entity(const entity_table& table, const row_id& id,
                            const retry_policy& wait) override {
    if constexpr (has_entities) {
      return database_.lock_entity(*used_, table, id, wait);
    } else {
      return app_transaction::lock_entity(table, id, wait);
    }
  }
  outcome<std::int64_t> read_version(const versioned_table& table, const row_id& id) override {
    if constexpr (has_entities) {
      return version_of(Database::entities(*used_), table, id);
    } else {
      return app_transaction::read_version(table, id);
    }
  }
  commit_result try_commit(const versioned_table& table, const row_id& id,
                           std::int64_t seen) override {
    if constexpr (has_entities) {
      return commit_on(Database::entities(*used_), table, id, seen);
    } else {
      return app_transaction::try_commit(table, id, seen);
    }
  }
  void execute(const std::string& sql) override {
    if constexpr (has_entities) {
      Database::execute(*used_, sql);
    } else {
      app_transaction::execute(sql);
    }
  }

 private:
  static constexpr bool has_entities = requires(transaction & used) { Database::entities(used); };

  const Database& database_;
  std::optional<transaction> owned_;
  transaction* used_ = nullptr;
};

template <class Database>
class app_connection_on final : public app_connection {
 public:
  using transaction = typename Database::transaction;
  using connection = typename Database::connection;

  app_connection_on(Database database, std::shared_ptr<connection> opened)
      : database_{std::move(database)}, connection_{std::move(opened)} {}

  outcome<std::unique_ptr<app_transaction>> begin() override {
    auto begun = std::make_unique<app_transaction_on<Database>>(database_);
    if (auto refused = begun->begin(*connection_)) return *std::move(refused);
    return std::unique_ptr<app_transaction>{std::move(begun)};
  }

  outcome<int> with_row_lock(const lock_keys& keys, const retry_policy& wait,
                             const app_work& work) override {
    return rowlock::with_row_lock<transaction>(*connection_, keys, wait, in(work), database_.table);
  }

  outcome<int> with_optimistic_commit(const lock_key& key, const app_work& work) override {
    return rowlock::with_optimistic_commit<transaction>(*connection_, key, in(work),
                                                        database_.table);
  }

  int run_fenced(const fenced_leases& leases, const app_work& work,
                 const fenced_run_options& options) override {
    return rowlock::run_fenced<transaction>(*connection_, leases, in(work), options,
                                            database_.table);
  }

  [[nodiscard]] std::string seats() const override {
    if constexpr (requires { database_.seats(); }) {
      return database_.seats();
    } else {
      return app_connection::seats();
    }
  }

 private:
  [[nodiscard]] auto in(const app_work& work) const {
    return [this, &work](transaction& used) {
      app_transaction_on<Database> wrapped{database_, used};
      return work(wrapped);
    };
  }

  Database database_;
  std::shared_ptr<connection> connection_;
};

}  // namespace rowlock::tests

#endif
