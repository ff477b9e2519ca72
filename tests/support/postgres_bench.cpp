// The PostgreSQL store on the test server.
#include "rowlock/postgres_migrate.hpp"
#include "rowlock/postgres_store.hpp"
#include "support/postgres_table_bench.hpp"

namespace rowlock::tests {

namespace {

class postgres_bench final : public postgres_table_bench {
 public:
  postgres_bench() {
    migrate_postgres(url(), table_name{table()});
    create_postgres_notes(table());
  }

  std::shared_ptr<store> open(std::chrono::milliseconds /*turn*/) override {
    return std::make_shared<postgres_store>(url(), postgres_options{.table = table_name{table()}});
  }

  std::unique_ptr<app_connection> connect() override { return connect_to_postgres(url(), table()); }

  [[nodiscard]] std::string url() const override { return postgres_url(); }
};

}  // namespace

std::unique_ptr<store_bench> make_postgres_bench() { return std::make_unique<postgres_bench>(); }

}  // namespace rowlock::tests
