// A SQLite file by way of SOCI.
#include "rowlock/soci_store.hpp"
#include "support/benches.hpp"
#include "support/soci_application.hpp"
#include "support/sqlite_file_bench.hpp"

namespace rowlock::tests {

namespace {

class soci_sqlite_bench final : public sqlite_file_bench {
 public:
  std::shared_ptr<store> open(std::chrono::milliseconds turn_timeout) override {
    return std::make_shared<soci_store>(target(), soci_options{.turn_timeout = turn_timeout});
  }
  std::unique_ptr<app_connection> connect() override {
    return connect_through_soci(target(), table());
  }
  [[nodiscard]] std::vector<std::string> contender() const override {
    return contender_on("soci:" + target(), table());
  }

 private:
  [[nodiscard]] std::string target() const { return "sqlite3://" + path(); }
};

}  // namespace

std::unique_ptr<store_bench> make_soci_sqlite_bench() {
  return std::make_unique<soci_sqlite_bench>();
}

}  // namespace rowlock::tests
