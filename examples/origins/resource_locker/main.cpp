// Two instances of a service, and a job that each of them was told to run.
#include <iostream>

#include "origins/resource_locker/resource_locker.hpp"
#include "origins/support/open_store.hpp"

using namespace std::chrono_literals;

int main(int arguments, char** argument) {
  try {
    const auto rows = origins::open_store(arguments, argument, "resource_locker.db");
    rowlock::lock_table locks{*rows, {.renew = false}};
    const std::vector<std::string> events{"account-7", "event-1", "event-2"};
    origins::resource_locker ours{locks, events, 30s, origins::log_to_console};
    origins::resource_locker theirs{locks, events, 30s, origins::log_to_console};

    origins::update_events_job their_job{
        theirs,
        [](const rowlock::lease&) { std::cout << "theirs updates the events\n"; },
        {.delay = 20ms, .count = 2}};
    origins::update_events_job our_job{ours,
                                       [&](const rowlock::lease& held) {
                                         std::cout << "ours updates the events, with token "
                                                   << (held.token().number > 0 ? "> 0" : "0")
                                                   << '\n';
                                         try {
                                           their_job.execute();
                                         } catch (const origins::job_execution_error& failed) {
                                           std::cout << "theirs: " << failed.what() << '\n';
                                         }
                                       },
                                       {}};
    our_job.execute();
    their_job.execute();
  } catch (const std::exception& thrown) {
    std::cerr << thrown.what() << '\n';
    return 1;
  }
}
