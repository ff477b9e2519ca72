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
    SQLite::Database database{path_, SQLite::OPEN_READWRITE};
    SQLite::Statement update{database,
                             "update shared_lock set expires_at = "
                             "strftime('%Y-%m-%d %H:%M:%f', 'now', '-1 second') "
                             "where lock_type = ? and source_id = ?"};
    update.bind(1, key.type);
    update.bind(2, key.source_id);
    if (update.exec() != 1) throw std::logic_error{"there is no such row"};
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
  temp_folder folder_;
  std::string path_ = folder_.path() / "locks.db";
};

}  // namespace

std::unique_ptr<store_bench> make_sqlite_bench() { return std::make_unique<sqlite_bench>(); }

}  // namespace rowlock::tests
