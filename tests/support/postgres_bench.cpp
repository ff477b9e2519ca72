// The PostgreSQL store on the test server.
#include "rowlock/postgres_store.hpp"
#include "support/benches.hpp"
#include "support/database_application.hpp"
#include "support/postgres_table_bench.hpp"

namespace rowlock::tests {

namespace {

class postgres_bench final : public postgres_table_bench {
 public:
  using postgres_table_bench::postgres_table_bench;

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

void migrate(const table_name& table) { migrate_postgres(postgres_url(), table); }
void migrate_with_history(const table_name& table) {
  migrate_postgres(postgres_url(), table, history_option::with);
}

kept_postgres_tables& tables_with(history_option history) {
  if (history == history_option::with) {
    static kept_postgres_tables with_history{migrate_with_history};
    return with_history;
  }
  static kept_postgres_tables without_history{migrate};
  return without_history;
}

}  // namespace

bench_kind postgres_kind(history_option history) {
  return {.name = "postgres",
          .make = [history] { return std::make_unique<postgres_bench>(tables_with(history)); },
          .has_transactions = true,
          .has_transactions_side_by_side = true,
          .has_entities = true,
          .has_foreign_transactions = true,
          .is_shared_between_processes = true,
          .is_shared_with_children = true};
}

}  // namespace rowlock::tests
