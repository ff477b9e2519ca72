// A queue at one row on PostgreSQL: row locks of this library against a plain SELECT ... FOR
// UPDATE.
//
// rowlock_row_queue URL [threads] [milliseconds held] [seconds a round] [rounds]
//
// Rounds alternate: plain, waits without limit, waits that a stop can end (these leave the queue
// now and then, to check for the stop). Printed for each: locks, the 50th and 99th percentile and
// the longest wait in milliseconds, and the smallest and greatest number of locks of one thread.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <mutex>
#include <pqxx/pqxx>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "rowlock/postgres.hpp"
#include "rowlock/postgres_store.hpp"

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

const rowlock::lock_key key{.type = "bench", .source_id = "row_queue"};

struct plan {
  std::string url;
  unsigned threads = 48;
  milliseconds held{5};
  std::chrono::seconds length{10};
  unsigned rounds = 3;
};

void take_plain(pqxx::connection& connection, const auto& hold) {
  pqxx::work work{connection};
  work.exec_params(
      "SELECT version FROM shared_lock WHERE lock_type = $1 AND source_id = $2 FOR UPDATE",
      key.type, key.source_id);
  hold();
  work.commit();
}

void take_ours(pqxx::connection& connection, const rowlock::retry_policy& wait, const auto& hold) {
  const auto done =
      rowlock::with_row_lock<pqxx::work>(connection, key, wait, [&](pqxx::work&) { hold(); });
  if (!done.acquired()) std::abort();
}

/// `take` waits for the row, calls its argument, and releases the row.
void run_round(const std::string& name, const plan& made, const auto& take) {
  std::mutex mutex;
  std::vector<double> waits;     // guarded by mutex
  std::vector<std::size_t> got;  // guarded by mutex
  std::vector<std::jthread> queued;
  const auto end = steady_clock::now() + made.length;
  for (unsigned i = 0; i < made.threads; ++i) {
    queued.emplace_back([&] {
      pqxx::connection connection{made.url};
      std::vector<double> mine;
      while (steady_clock::now() < end) {
        const auto began = steady_clock::now();
        take(connection, [&] {
          mine.push_back(
              std::chrono::duration<double, std::milli>(steady_clock::now() - began).count());
          std::this_thread::sleep_for(made.held);
        });
      }
      const std::scoped_lock lock{mutex};
      waits.insert(waits.end(), mine.begin(), mine.end());
      got.push_back(mine.size());
    });
  }
  queued.clear();
  std::sort(waits.begin(), waits.end());
  const auto at = [&](double part) {
    return waits[static_cast<std::size_t>(part * static_cast<double>(waits.size() - 1))];
  };
  const auto [fewest, most] = std::minmax_element(got.begin(), got.end());
  std::cout << std::setw(9) << name << std::fixed << std::setprecision(1) << "  locks "
            << waits.size() << "  p50 " << at(0.5) << "  p99 " << at(0.99) << "  longest "
            << waits.back() << "  a thread " << *fewest << " to " << *most << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> arguments{argv + 1, argv + argc};
    if (arguments.empty()) {
      std::cerr << "rowlock_row_queue URL [threads] [milliseconds held] [seconds] [rounds]\n";
      return EXIT_FAILURE;
    }
    const auto number = [&](std::size_t place, unsigned otherwise) {
      return arguments.size() > place ? static_cast<unsigned>(std::stoul(arguments[place]))
                                      : otherwise;
    };
    const plan made{arguments[0], number(1, 48), milliseconds{number(2, 5)},
                    std::chrono::seconds{number(3, 10)}, number(4, 3)};
    rowlock::migrate_postgres(made.url);
    pqxx::connection first{made.url};
    const auto unlimited = rowlock::wait_forever();
    const std::stop_source stop;
    auto stoppable = unlimited;
    stoppable.stop = stop.get_token();
    take_ours(first, unlimited, [] {});  // makes the row
    for (unsigned i = 0; i < made.rounds; ++i) {
      run_round("plain", made,
                [](auto& connection, const auto& hold) { take_plain(connection, hold); });
      run_round("rowlock", made, [&](auto& connection, const auto& hold) {
        take_ours(connection, unlimited, hold);
      });
      run_round("stoppable", made, [&](auto& connection, const auto& hold) {
        take_ours(connection, stoppable, hold);
      });
    }
  } catch (const std::exception& thrown) {
    std::cerr << thrown.what() << '\n';
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
