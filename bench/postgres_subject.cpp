// A PostgreSQL server, with as many connections as there are threads.
#include <cstdlib>
#include <iostream>
#include <pqxx/pqxx>
#include <random>
#include <stdexcept>
#include <string>

#include "rowlock/postgres.hpp"
#include "rowlock/postgres_store.hpp"
#include "subject.hpp"

namespace rowlock::bench {
namespace {

std::string server() {
  const char* url = std::getenv("ROWLOCK_TEST_POSTGRES");
  if (url == nullptr || *url == '\0') {
    throw std::runtime_error{
        "ROWLOCK_TEST_POSTGRES names no server: run script/bench --micro, or leave PostgreSQL out "
        "with "
        "--benchmark_filter=-postgres"};
  }
  return url;
}

class postgres_subject final : public subject {
 public:
  postgres_subject() {
    execute("CREATE SCHEMA " + schema_);
    migrate_postgres(server_, table_);
  }
  ~postgres_subject() override {
    try {
      execute("SET client_min_messages = warning; DROP SCHEMA " + schema_ + " CASCADE");
    } catch (const std::exception& problem) {
      std::cerr << "cannot drop " << schema_ << ": " << problem.what() << '\n';
    }
  }

  store& locks() override { return locks_; }
  row_locker connect() override {
    auto connection = std::make_shared<pqxx::connection>(server_);
    return [connection, this](const lock_key& key) {
      return with_row_lock<pqxx::work>(
                 *connection, key, no_wait(), [](pqxx::work&) {}, table_)
          .acquired();
    };
  }

 private:
  void execute(const std::string& sql) const {
    pqxx::connection connection{server_};
    pqxx::work work{connection};
    work.exec(sql);
    work.commit();
  }

  std::string server_ = server();
  std::string schema_ = "rowlock_bench_" + std::to_string(std::random_device{}());
  table_name table_{schema_ + ".shared_lock"};
  postgres_store locks_{server_, {.table = table_, .pool_size = 32}};
};

}  // namespace

std::unique_ptr<subject> make_postgres_subject() { return std::make_unique<postgres_subject>(); }

}  // namespace rowlock::bench
