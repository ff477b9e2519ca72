// rowlock_permits: how long threads wait for a permit, and how many permits a second they get. Run
// by hand, with the address of a PostgreSQL server; several at once are several processes.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "rowlock/lock_table.hpp"
#include "rowlock/postgres_store.hpp"
#include "rowlock/semaphore.hpp"

namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;
using std::chrono::steady_clock;

/// The waits of one thread that takes and releases permits for so long.
std::vector<microseconds> waits_of(rowlock::semaphore& permits, std::chrono::milliseconds hold,
                                   std::chrono::seconds length) {
  std::vector<microseconds> waits;
  const auto end = steady_clock::now() + length;
  while (steady_clock::now() < end) {
    const auto began = steady_clock::now();
    const auto held = permits.try_acquire({.wait = 1min});
    if (!held.acquired()) throw std::runtime_error{"no permit within a minute"};
    waits.push_back(std::chrono::duration_cast<microseconds>(steady_clock::now() - began));
    std::this_thread::sleep_for(hold);
  }
  return waits;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: rowlock_permits URL THREADS PERMITS HOLD_MS\n";
    return 2;
  }
  constexpr auto length = 5s;
  rowlock::postgres_store rows{std::string{argv[1]}};
  rowlock::lock_table locks{rows};
  rowlock::semaphore permits{locks, {"bench", "permits"}, std::stoul(argv[3])};
  const std::chrono::milliseconds hold{std::stoul(argv[4])};
  std::vector<std::vector<microseconds>> each(std::stoul(argv[2]));
  std::vector<std::thread> threads;
  threads.reserve(each.size());
  for (auto& waits : each) {
    threads.emplace_back([&] { waits = waits_of(permits, hold, length); });
  }
  for (auto& thread : threads) thread.join();
  std::vector<microseconds> all;
  for (const auto& waits : each) all.insert(all.end(), waits.begin(), waits.end());
  std::sort(all.begin(), all.end());
  std::cout << all.size() / length.count() << " permits a second; waits: median "
            << all[all.size() / 2].count() << " us, 99th percentile "
            << all[all.size() * 99 / 100].count() << " us, longest " << all.back().count()
            << " us\n";
}
