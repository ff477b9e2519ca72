// Leader election: one instance of a service does the work, and another one takes over after it.
#include "rowlock/leader.hpp"

#include <chrono>
#include <future>
#include <iostream>
#include <stop_token>
#include <string>
#include <thread>

#include "rowlock/sqlite_store.hpp"

using namespace std::chrono_literals;

namespace {

const rowlock::lock_key cleaner{.type = "service", .source_id = "cleaner"};

/// In real life a process. Other processes read its label: the address at which it is reached.
struct instance {
  explicit instance(const std::string& label)
      : store{"leader.db"}, locks{store, {.ttl = 30s, .holder = label}} {}

  void campaign() {
    const auto lead = [this](const rowlock::lease& term, const std::stop_token& over) {
      leads.set_value(term.token());
      while (!over.stop_requested()) clean_up_a_little();
    };  // the key is free from here on
    ended = std::async(std::launch::async, [this, lead] {
      rowlock::run_while_leader(locks, cleaner, shutdown.get_token(), lead);
    });
  }

  static void clean_up_a_little() { std::this_thread::sleep_for(10ms); }

  rowlock::sqlite_store store;
  rowlock::lock_table locks;
  std::stop_source shutdown;
  std::promise<rowlock::version> leads;
  std::future<void> ended;
};

void print_leader(rowlock::store& store) {
  const auto known = rowlock::leader_of(store, cleaner);
  std::cout << (known ? known->holder + " leads" : "no leader") << '\n';
}

}  // namespace

int main() {
  rowlock::migrate_sqlite("leader.db");
  instance first{"10.0.0.1:8080"};
  instance second{"10.0.0.2:8080"};

  first.campaign();
  const auto term = first.leads.get_future().get();
  second.campaign();
  print_leader(second.store);

  first.shutdown.request_stop();
  const auto next = second.leads.get_future().get();
  print_leader(first.store);
  std::cout << (next > term ? "its term is greater" : "wrong") << '\n';

  second.shutdown.request_stop();
  second.ended.get();
  print_leader(first.store);
}
