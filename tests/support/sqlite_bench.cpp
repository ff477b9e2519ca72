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

std::unique_ptr<store_bench> make_sqlite_bench(history_option history) {
  return std::make_unique<sqlite_bench>(history);
}

}  // namespace rowlock::tests
