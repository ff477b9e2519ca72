// Several keys at once: a queue of work whose batches do not overlap, and a transfer that needs
// both of its accounts or neither.
#include <chrono>
#include <iostream>
#include <string>
#include <vector>

#include "rowlock/lock_table.hpp"
#include "rowlock/sqlite_store.hpp"

using namespace std::chrono_literals;

namespace {

std::vector<rowlock::lock_key> open_tasks() {  // in real life: SELECT id FROM task WHERE NOT done
  std::vector<rowlock::lock_key> tasks;
  for (int id = 1; id <= 50; ++id) tasks.push_back({"task", std::to_string(id)});
  return tasks;
}

}  // namespace

int main() {
  rowlock::migrate_sqlite("work_queue.db");
  rowlock::sqlite_store store{"work_queue.db"};
  rowlock::lock_table ours{store, {.ttl = 30s}};
  rowlock::lock_table theirs{store, {.ttl = 30s}};  // in real life another process

  // Whichever are free, at most 20: one statement, and one renewal for all of them.
  auto batch = ours.try_acquire_any(open_tasks(), 20);
  auto next = theirs.try_acquire_any(open_tasks(), 20);
  std::cout << "ours: " << batch->leases().front().key() << " and " << batch->size() - 1
            << " more; theirs: " << next->leases().front().key() << " and " << next->size() - 1
            << " more\n";
  for (const auto& task : open_tasks()) {
    if (batch->find(task) != nullptr) batch->release(task);  // one by one, as they are done
  }

  // All or none.
  const std::vector<rowlock::lock_key> accounts{{"account", "9"}, {"account", "7"}};
  const auto busy = theirs.try_acquire({"account", "7"});
  const auto refused = ours.try_acquire_all(accounts);
  std::cout << "not acquired: " << refused.refusal().key
            << "; the other one is free: " << std::boolalpha
            << ours.try_acquire({"account", "9"}).acquired() << '\n';
}
