// The lock table in a fresh SQLite file.
#include <SQLiteCpp/SQLiteCpp.h>

#include <stdexcept>

#include "rowlock/sqlite_migrate.hpp"
#include "rowlock/sqlite_store.hpp"
#include "support/store_bench.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::tests {

namespace {

class sqlite_bench final : public store_bench {
 public:
  sqlite_bench() {
    migrate_sqlite(path_);
    create_sqlite_notes(path_);
  }

  std::shared_ptr<store> open(std::chrono::milliseconds turn) override {
    return std::make_shared<sqlite_store>(path_, sqlite_options{.turn_timeout = turn});
  }

  std::unique_ptr<app_connection> connect() override { return connect_to_sqlite(path_, table()); }

  void run_out(const lock_key& key) override {
    on_row(key,
           "update shared_lock "
           "set expires_at = strftime('%Y-%m-%d %H:%M:%f', 'now', '-1 second')");
  }
  void leave_behind_the_clock(const lock_key& key) override {
    on_row(key, "update shared_lock set version = 1");
  }
  void put_ahead_of_the_clock(const lock_key& key) override {
    on_row(key, "update shared_lock set version = version + 3600000000");
  }

  bool is_blank(const lock_key& key) override {
    return on_row(key,
                  "select owner is null and holder is null and acquired_at is null "
                  "and expires_at = '1970-01-01 00:00:00.000' from shared_lock") == 1;
  }

  std::shared_ptr<void> lock_as_a_stranger(const lock_key& /*key*/) override {
    // A writer of the file has all of its rows. What is not committed is rolled back.
    auto stranger = std::make_shared<SQLite::Database>(path_, SQLite::OPEN_READWRITE);
    stranger->exec("begin immediate");
    return stranger;
  }

  [[nodiscard]] std::string url() const override { return "sqlite://" + path_; }
  [[nodiscard]] std::string table() const override { return "shared_lock"; }

 private:
  /// Runs `sql` for one row; what it selects, or how many rows it changed.
  int on_row(const lock_key& key, const std::string& sql) {
    SQLite::Database database{path_, SQLite::OPEN_READWRITE};
    SQLite::Statement statement{database, sql + " where lock_type = ? and source_id = ?"};
    statement.bind(1, key.type);
    statement.bind(2, key.source_id);
    if (statement.executeStep()) return statement.getColumn(0).getInt();
    if (database.getChanges() != 1) throw std::logic_error{"there is no such row"};
    return 1;
  }

  temp_folder folder_;
  std::string path_ = folder_.path() / "locks.db";
};

}  // namespace

std::unique_ptr<store_bench> make_sqlite_bench() { return std::make_unique<sqlite_bench>(); }

}  // namespace rowlock::tests
