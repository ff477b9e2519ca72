// A worker that drains a queue of tasks beside other workers, and stops cleanly on SIGTERM.
#include <SQLiteCpp/SQLiteCpp.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <exception>
#include <iostream>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "rowlock/lock_table.hpp"
#include "rowlock/sqlite.hpp"
#include "rowlock/sqlite_store.hpp"

using namespace std::chrono_literals;

namespace {

std::vector<rowlock::lock_key> open_tasks(SQLite::Database& shop) {
  std::vector<rowlock::lock_key> tasks;
  SQLite::Statement select{shop, "SELECT id FROM task WHERE NOT done ORDER BY id LIMIT 100"};
  while (select.executeStep()) tasks.push_back({"task", select.getColumn(0).getString()});
  return tasks;
}

bool is_open(SQLite::Database& shop, const rowlock::lock_key& task) {
  SQLite::Statement select{shop, "SELECT 1 FROM task WHERE id = ? AND NOT done"};
  select.bind(1, std::stol(task.source_id));
  return select.executeStep();
}

void mark_done(SQLite::Database& shop, const rowlock::lock_key& task) {
  SQLite::Statement update{shop, "UPDATE task SET done = 1 WHERE id = ?"};
  update.bind(1, std::stol(task.source_id));
  update.exec();
}

void rest(const std::stop_token& stop, std::chrono::milliseconds time) {
  std::mutex mutex;
  std::unique_lock lock{mutex};
  std::condition_variable_any{}.wait_for(lock, stop, time, [] { return false; });
}

void work_on(const rowlock::lock_key& /*task*/, rowlock::version /*token*/) {}

void drain(rowlock::lock_table& locks, SQLite::Database& shop, const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const auto tasks = open_tasks(shop);
    auto batch = locks.try_acquire_any(tasks, 20);  // those that no other worker has
    for (const auto& task : tasks) {
      const auto* held = batch.acquired() ? batch->find(task) : nullptr;
      if (held == nullptr || stop.stop_requested()) continue;
      if (is_open(shop, task)) {  // done since it was read, perhaps
        work_on(task, held->token());
        rowlock::run_fenced<rowlock::sqlite_transaction>(shop, *held,
                                                         [&](auto&) { mark_done(shop, task); });
      }
      batch->release(task);
    }
    if (!batch.acquired() || tasks.empty()) rest(stop, 1s);
  }  // the rest of a batch is released
}

// Call it once, before any other thread begins: threads inherit the mask.
std::stop_token stopped_by_signals() {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  static std::stop_source shutdown;
  std::thread{[ends, stop = shutdown]() mutable {
    int number = 0;
    sigwait(&ends, &number);
    stop.request_stop();
  }}.detach();
  return shutdown.get_token();
}

void run() {
  rowlock::migrate_sqlite("queue_worker.db");
  SQLite::Database shop{"queue_worker.db", SQLite::OPEN_READWRITE};
  shop.exec("DROP TABLE IF EXISTS task");
  shop.exec("CREATE TABLE task (id INTEGER PRIMARY KEY, done INTEGER NOT NULL DEFAULT 0)");
  for (int id = 1; id <= 50; ++id) shop.exec("INSERT INTO task (id) VALUES (NULL)");

  const auto stop = stopped_by_signals();

  {
    rowlock::sqlite_store store{"queue_worker.db"};
    rowlock::lock_table locks{store, {.ttl = 30s}};
    // In real life Kubernetes or systemd sends it.
    std::jthread kubernetes{[](const std::stop_token& failed) {
      SQLite::Database seen{"queue_worker.db"};
      while (!open_tasks(seen).empty() && !failed.stop_requested()) rest(failed, 10ms);
      kill(getpid(), SIGTERM);
    }};
    drain(locks, shop, stop);
  }  // the lock_table releases what it still has

  rowlock::sqlite_store store{"queue_worker.db"};
  std::cout << open_tasks(shop).size() << " open, " << store.list().size() << " held\n";
}

}  // namespace

int main() {
  try {
    run();
  } catch (const std::exception& thrown) {
    std::cerr << thrown.what() << '\n';
    return 1;
  }
}
