// The store through SOCI on the test server.
#include "rowlock/soci_store.hpp"
#include "support/benches.hpp"
#include "support/database_application.hpp"
#include "support/postgres_table_bench.hpp"
#include "support/soci_application.hpp"
#include "support/soci_postgres.hpp"

namespace rowlock::tests {

namespace {

class soci_postgres_bench final : public postgres_table_bench {
 public:
  using postgres_table_bench::postgres_table_bench;

  std::shared_ptr<store> open(std::chrono::milliseconds /*turn_timeout*/) override {
    return std::make_shared<soci_store>(soci_url(), soci_options{.table = table_name{table()}});
  }

  std::unique_ptr<app_connection> connect() override {
    return connect_through_soci(soci_url(), table());
  }

  [[nodiscard]] std::vector<std::string> contender() const override {
    return contender_on("soci:" + soci_url(), table());
  }
};

}  // namespace

std::unique_ptr<store_bench> make_soci_postgres_bench() {
  static kept_postgres_tables tables{
      [](const table_name& table) { migrate_soci(soci_url(), table); }};
  return std::make_unique<soci_postgres_bench>(tables);
}

}  // namespace rowlock::tests
