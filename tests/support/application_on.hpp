// Writes app_connection once for all databases.
#ifndef ROWLOCK_TESTS_SUPPORT_APPLICATION_ON_HPP
#define ROWLOCK_TESTS_SUPPORT_APPLICATION_ON_HPP

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rowlock/row_lock.hpp"
#include "rowlock/row_transaction.hpp"
#include "support/application.hpp"

namespace rowlock::tests {

/// `Database` has the types `transaction` and `connection`, a member `table`, and static functions
/// `lock_rows`, `read_version`, `try_commit`, `write_note` and `notes` on a transaction, where the
/// library or the driver spells them differently from database to database.
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

 private:
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
