// rowlock_fault_worker: a process that works under locks until it is commanded to stop, or dies.
#include <sys/prctl.h>

#include <csignal>
#include <exception>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "faults/worker.hpp"

namespace {

using namespace rowlock;
using namespace rowlock::tests;

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
    work(arguments[0], sheet, std::stoul(arguments[2]),
         arguments[3] == "fenced" ? fencing::on : fencing::off,
         static_cast<unsigned>(std::stoul(arguments[4])));
    return 0;
  } catch (const std::exception& thrown) {
    std::cerr << thrown.what() << '\n';
    return 1;
  }
}
