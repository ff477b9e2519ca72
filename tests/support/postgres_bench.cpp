// The PostgreSQL store on the test server.
#include "rowlock/postgres_store.hpp"
#include "support/benches.hpp"
#include "support/database_application.hpp"
#include "support/postgres_table_bench.hpp"

namespace rowlock::tests {

namespace {

class postgres_bench final : public postgres_table_bench {
 public:
  explicit postgres_bench(history_option history) {
    migrate_postgres(postgres_url(), table_name{table()}, history);
    create_postgres_application(table());
  }

  std::shared_ptr<store> open(std::chrono::milliseconds /*turn_timeout*/) override {
    return std::make_shared<postgres_store>(postgres_url(),
                                            postgres_options{.table = table_name{table()}});
  }

  std::unique_ptr<app_connection> connect() override {
    return connect_to_postgres(postgres_url(), table());
  }

  [[nodiscard]] std::vector<std::string> contender() const override {
    return contender_on(postgres_url(), table());
  }
};

}  // namespace

bench_kind postgres_kind(history_option history) {
  return {.name = "postgres",
          .make = [history] { return std::make_unique<postgres_bench>(history); },
          .has_transactions = true,
          .has_transactions_side_by_side = true,
          .has_entities = true,
          .has_foreign_transactions = true,
          .is_shared_between_processes = true,
          .is_shared_with_children = true};
}

}  // namespace rowlock::tests
