// A key in the shape of std::timed_mutex, for the standard's own guards.
#include "rowlock/row_mutex.hpp"

#include <iostream>
#include <mutex>
#include <thread>

#include "rowlock/lock_table.hpp"
#include "rowlock/testing/memory_store.hpp"

int main() {
  rowlock::memory_store store;  // or a database, and then the other thread may be another machine
  rowlock::lock_table locks{store};

  int left = 1000;
  int right = 1000;
  const auto move = [&](const char* from, const char* to, int& source, int& target) {
    // Each thread has its own objects, as two processes would have; they share only the row.
    rowlock::row_mutex first{locks, {.type = "account", .source_id = from}};
    rowlock::row_mutex second{locks, {.type = "account", .source_id = to}};
    for (int turn = 0; turn < 20; ++turn) {
      const std::scoped_lock both{first, second};  // in opposite orders, and without a deadlock
      --source;
      ++target;
    }
  };
  {
    const std::jthread there{[&] { move("left", "right", left, right); }};
    const std::jthread back{[&] { move("right", "left", right, left); }};
  }
  std::cout << "left " << left << ", right " << right << '\n';
}
