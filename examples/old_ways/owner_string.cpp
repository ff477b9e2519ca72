// The old way: a lock record with an owner string ("host-thread-time"), compared at the unlock; a
// task that could not lock is put back with a delay, at most so many times.
// What goes wrong: an owner string that is used again unlocks another holder's record; and the
// comparison at the unlock shows too late that the work was not protected.
#include <chrono>
#include <deque>
#include <iostream>
#include <string>

#include "rowlock/lock_table.hpp"
#include "rowlock/sqlite_store.hpp"

using namespace std::chrono_literals;

namespace {

struct task {
  std::string device;
  unsigned tries = 0;
};

constexpr unsigned max_tries = 3;

}  // namespace

int main() {
  rowlock::migrate_sqlite("owner_string.db");
  rowlock::sqlite_store store{"owner_string.db"};
  // The label is for people. A release compares a random id for each attempt, and the version.
  rowlock::lock_table locks{store, {.ttl = 10s, .holder = "worker-1"}};
  rowlock::lock_table rival{store, {.ttl = 10s, .holder = "worker-2"}};
  const auto busy = rival.try_acquire({"device", "router-2"});

  std::deque<task> queue{{"router-1"}, {"router-2"}, {"router-3"}};
  while (!queue.empty()) {
    auto next = queue.front();
    queue.pop_front();
    const auto configured = locks.with_lock({"device", next.device},
                                            [&] { std::cout << next.device << ": configured\n"; });
    if (configured.acquired()) {
      if (!configured.kept()) std::cout << next.device << ": lost meanwhile, look at it\n";
    } else if (++next.tries < max_tries) {
      queue.push_back(next);  // a broker would deliver it again after a delay
    } else {
      std::cout << next.device << ": given up after " << next.tries
                << " tries: " << configured.refusal() << '\n';
    }
  }
}
