// MariaDB or MySQL through SOCI: a lease around work that takes long, a fence around what it
// writes.
#include <soci/soci.h>

#include <chrono>
#include <iostream>
#include <string>

#include "rowlock/lock_table.hpp"
#include "rowlock/soci.hpp"
#include "rowlock/soci_store.hpp"

using namespace std::chrono_literals;

namespace {

const rowlock::lock_key nightly{.type = "report", .source_id = "nightly"};

// Stands for an hour of work, outside of any transaction.
int count_orders() { return 42; }

void run(const std::string& database) {
  rowlock::migrate_soci(database);  // once, when deploying; or: rowlock migrate mysql://...
  soci::session shop{database};
  shop << "CREATE TABLE IF NOT EXISTS report (name varchar(20) PRIMARY KEY, orders int NOT NULL)";

  rowlock::soci_store store{database};  // with connections of its own
  rowlock::lock_table locks{store, {.ttl = 30s}};
  rowlock::lock_table rival{store};  // in real life another process

  const auto written = locks.with_lock(nightly, [&](const rowlock::lease& held) {
    std::cout << "not acquired: " << rival.try_acquire(nightly).refusal() << '\n';
    const int orders = count_orders();
    rowlock::run_fenced<rowlock::soci_transaction>(
        shop, held, [&](rowlock::soci_transaction& work) {
          work.session() << "REPLACE INTO report (name, orders) VALUES ('nightly', :orders)",
              soci::use(orders);
        });
    return orders;
  });
  if (!written.acquired()) {
    std::cout << "not acquired: " << written.refusal() << '\n';
    return;
  }
  int reported = 0;
  shop << "SELECT orders FROM report WHERE name = 'nightly'", soci::into(reported);
  std::cout << "reported " << reported << " orders\n";
}

}  // namespace

// As SOCI reads it: example_mariadb "mysql://host=127.0.0.1 user=app password=... db=shop"
int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "usage: example_mariadb \"mysql://host=... user=... password=... db=...\"\n";
    return 2;
  }
  try {
    run(arguments[1]);
  } catch (const std::exception& thrown) {
    std::cerr << "example_mariadb: " << thrown.what() << '\n';
    return 1;
  }
}
