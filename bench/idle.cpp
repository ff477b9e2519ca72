// rowlock_idle: what a lock_table takes that has nothing to do, and what waiters take. Run by hand,
// with the address of a PostgreSQL server whose lock table is the default one.
#include <malloc.h>

#include <chrono>
#include <fstream>
#include <iostream>
#include <memory>
#include <pqxx/pqxx>
#include <string>
#include <thread>
#include <vector>

#include "rowlock/async.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/postgres_store.hpp"
#include "rowlock/table_name.hpp"

namespace {

using namespace std::chrono_literals;

long threads_of_this_process() {
  std::ifstream status{"/proc/self/status"};
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("Threads:")) return std::stol(line.substr(8));
  }
  return 0;
}

/// All connections to the database, with the one that asks.
long connections(const std::string& url) {
  pqxx::connection asking{url};
  pqxx::nontransaction reader{asking};
  return reader
      .exec("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")[0][0]
      .as<long>();
}

struct usage {
  explicit usage(const std::string& url) : connected{connections(url)} {}

  long connected;
  long threads = threads_of_this_process();
  std::size_t bytes = mallinfo2().uordblks;
};

void print(const char* what, const usage& before, const usage& after, std::size_t each = 1) {
  std::cout << what << ": " << after.threads - before.threads << " threads, "
            << after.connected - before.connected << " connections, "
            << (after.bytes - before.bytes) / each << " bytes allocated"
            << (each > 1 ? " for each" : "") << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: rowlock_idle URL\n";
    return 2;
  }
  const std::string url = argv[1];
  rowlock::migrate_postgres(url);

  constexpr std::size_t waiters = 1000;
  rowlock::postgres_store theirs{url, {}};
  rowlock::lock_table others{theirs, {.ttl = 60s}};
  std::vector<rowlock::lock_key> keys;
  for (std::size_t i = 0; i < waiters; ++i) keys.push_back({"idle", std::to_string(i)});
  const auto held = others.try_acquire_all(keys);
  if (!held.acquired()) {
    std::cerr << "the keys are held: " << held.refusal() << '\n';
    return 1;
  }

  const usage before{url};
  rowlock::postgres_store rows{url, {}};
  auto locks = std::make_unique<rowlock::lock_table>(rows, rowlock::lock_options{.ttl = 60s});
  print("a lock_table and its store", before, usage{url});
  { const auto once = locks->try_acquire({"idle", "own"}); }
  print("the same after a pair", before, usage{url});

  const usage alone{url};
  std::vector<rowlock::pending_acquire> waiting;
  for (const auto& key : keys) {
    waiting.push_back(rowlock::start_acquire(*locks, key, {.wait = rowlock::wait_forever()},
                                             [](const rowlock::acquire_end&) {}));
  }
  std::this_thread::sleep_for(2s);  // until all have been tried, and their rows marked
  print("1,000 waiters, a key each", alone, usage{url}, waiters);
  locks.reset();
}
