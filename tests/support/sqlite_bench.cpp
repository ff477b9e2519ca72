// A SQLite file by way of SQLiteCpp.
#include "rowlock/sqlite_store.hpp"
#include "support/benches.hpp"
#include "support/database_application.hpp"
#include "support/sqlite_file_bench.hpp"

namespace rowlock::tests {

namespace {

class sqlite_bench final : public sqlite_file_bench {
 public:
  using sqlite_file_bench::sqlite_file_bench;

  std::shared_ptr<store> open(std::chrono::milliseconds turn_timeout) override {
    return std::make_shared<sqlite_store>(path(), sqlite_options{.turn_timeout = turn_timeout});
  }
  std::unique_ptr<app_connection> connect() override { return connect_to_sqlite(path(), table()); }
  [[nodiscard]] std::vector<std::string> contender() const override {
    return contender_on("sqlite://" + path(), table());
  }
};

}  // namespace

bench_kind sqlite_kind(history_option history) {
  return {.name = "sqlite",
          .make = [history] { return std::make_unique<sqlite_bench>(history); },
          .has_transactions = true,
          .keeps_callbacks_from_committing = true,
          .has_entities = true,
          .has_foreign_transactions = true,
          .is_shared_between_processes = true};
}

}  // namespace rowlock::tests
