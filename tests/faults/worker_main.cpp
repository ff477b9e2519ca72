// rowlock_fault_worker: a process that works under locks until it is commanded to stop, or dies.
#include <sys/prctl.h>

#include <chrono>
#include <csignal>
#include <exception>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "faults/worker.hpp"

namespace {

using namespace rowlock;
using namespace rowlock::tests;

/// What a process must have as much of after the work as before.
struct belongings {
  std::ptrdiff_t threads;
  std::ptrdiff_t files;

  friend bool operator==(const belongings&, const belongings&) = default;
};

belongings own_belongings() {
  const auto count = [](const char* folder) {
    const std::filesystem::directory_iterator entries{folder};
    return std::distance(begin(entries), end(entries));
  };
  return {count("/proc/self/task"), count("/proc/self/fd")};
}

void work(const database_url& url, score_sheet& sheet, std::size_t slot, fencing fences,
          unsigned seed) {
  const auto rows = open_locks(url);
  lock_table locks{*rows, {.ttl = ttl, .margin = margin}};
  lock_table late{*rows, {.ttl = short_ttl, .margin = short_margin, .renew = false}};
  std::vector<std::jthread> threads;
  for (std::size_t thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&, thread] {
      worker one{url, sheet, {slot, thread}, fences, seed + static_cast<unsigned>(thread)};
      if (thread == 0) {
        one.work_late(late);
      } else {
        one.work(locks);
      }
    });
  }
}

/// A thread that has been joined is still listed for a moment.
void expect_belongings(const belongings& before) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{2};
  for (auto after = own_belongings(); after != before; after = own_belongings()) {
    if (std::chrono::steady_clock::now() > until) {
      throw std::runtime_error{"threads: " + std::to_string(before.threads) + " before, " +
                               std::to_string(after.threads) +
                               " after; files: " + std::to_string(before.files) + " before, " +
                               std::to_string(after.files) + " after"};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }
}

}  // namespace

int main(int count, char** values) {
  try {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // not to outlive a test that was killed
    const std::vector<std::string> arguments(values + 1, values + count);
    if (arguments.size() != 5) {
      std::cerr << "usage: rowlock_fault_worker URL SHEET SLOT fenced|unfenced SEED\n";
      return 64;
    }
    auto sheet = score_sheet::open(arguments[1]);
    std::thread{[] {}}.join();  // with the first thread ThreadSanitizer starts one of its own
    const auto before = own_belongings();
    work(arguments[0], sheet, std::stoul(arguments[2]),
         arguments[3] == "fenced" ? fencing::on : fencing::off,
         static_cast<unsigned>(std::stoul(arguments[4])));
    expect_belongings(before);
    return 0;
  } catch (const std::exception& thrown) {
    std::cerr << thrown.what() << '\n';
    return 1;
  }
}
