// Two instances of a service, and a job that the scheduler of each of them starts.
#include <iostream>

#include "origins/resource_locker/resource_locker.hpp"
#include "origins/support/open_store.hpp"

using namespace std::chrono_literals;

namespace {

/// Updates one event after the other while the lock lasts.
void update(const std::string& instance, const rowlock::lease& held) {
  for (const std::string event : {"event-1", "event-2"}) {
    // What the original could not promise: the job can know that its duration is over.
    if (held.lost().stop_requested()) throw std::runtime_error{"the duration is over"};
    std::cout << instance << " updates " << event << '\n';
  }
}

}  // namespace

int main(int arguments, char** argument) {
  try {
    const auto rows = origins::open_store(arguments, argument, "resource_locker.db");
    // Without renewal a lock lasts for its duration, as in the original.
    rowlock::lock_table our_locks{*rows, {.renew = false}};
    rowlock::lock_table their_locks{*rows, {.renew = false}};

    const origins::update_events_job theirs{their_locks,
                                            "account-7",
                                            [](const rowlock::lease& held) {
                                              std::cout << "theirs updates the events\n";
                                              update("theirs", held);
                                            },
                                            origins::log_to_console,
                                            {.duration = 30s, .delay = 20ms, .max_retry = 2}};
    const origins::update_events_job ours{our_locks,
                                          "account-7",
                                          [&](const rowlock::lease& held) {
                                            update("ours", held);
                                            try {
                                              theirs.execute();
                                            } catch (const origins::job_execution_error& failed) {
                                              std::cout << "theirs: " << failed.what() << '\n';
                                            }
                                          },
                                          origins::log_to_console,
                                          {.duration = 30s}};
    ours.execute();
    theirs.execute();
  } catch (const std::exception& thrown) {
    std::cerr << thrown.what() << '\n';
    return 1;
  }
}
