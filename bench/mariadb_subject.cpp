// A MariaDB or MySQL server, with as many connections as there are threads.
#include <soci/soci.h>

#include <cstdlib>
#include <iostream>
#include <random>
#include <stdexcept>
#include <string>

#include "cli/database_url.hpp"
#include "rowlock/soci.hpp"
#include "rowlock/soci_store.hpp"
#include "subject.hpp"

namespace rowlock::bench {
namespace {

std::string server() {
  const char* url = std::getenv("ROWLOCK_TEST_MARIADB");
  if (url == nullptr || *url == '\0') {
    throw std::runtime_error{
        "ROWLOCK_TEST_MARIADB names no server: run script/bench --micro, or leave MariaDB out with "
        "--benchmark_filter=-mariadb"};
  }
  return database_url{url}.target();
}

class mariadb_subject final : public subject {
 public:
  mariadb_subject() {
    soci::session session{server_};
    session << "CREATE DATABASE " + schema_;
    migrate_soci(server_, table_);
  }
  ~mariadb_subject() override {
    try {
      soci::session session{server_};
      session << "DROP DATABASE " + schema_;
    } catch (const std::exception& problem) {
      std::cerr << "cannot drop " << schema_ << ": " << problem.what() << '\n';
    }
  }

  store& locks() override { return locks_; }
  row_locker connect() override {
    auto session = std::make_shared<soci::session>(server_);
    return [session, this](const lock_key& key) {
      return with_row_lock<soci_transaction>(
                 *session, key, no_wait(), [](soci_transaction&) {}, table_)
          .acquired();
    };
  }
  std::optional<std::int64_t> statements() override {
    std::string name;
    std::string count;
    counters_ << "SHOW GLOBAL STATUS LIKE 'Questions'", soci::into(name), soci::into(count);
    return std::stoll(count);
  }

 private:
  std::string server_ = server();
  std::string schema_ = "rowlock_bench_" + std::to_string(std::random_device{}());
  table_name table_{schema_ + ".shared_lock"};
  soci::session counters_{server_};
  soci_store locks_{server_, {.table = table_, .pool_size = 32}};
};

}  // namespace

std::unique_ptr<subject> make_mariadb_subject() { return std::make_unique<mariadb_subject>(); }

}  // namespace rowlock::bench
