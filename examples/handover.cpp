// A request begins and a worker ends: more time, a warning, and a lease that passes to another
// process.
#include <chrono>
#include <iostream>

#include "rowlock/lock_table.hpp"
#include "rowlock/sqlite_store.hpp"

int main() {
  using namespace std::chrono_literals;
  rowlock::migrate_sqlite("handover.db");
  rowlock::sqlite_store store{"handover.db"};
  rowlock::lock_table requests{store, {.holder = "web1"}};
  rowlock::lock_table workers{store, {.holder = "worker7"}};

  auto held = requests.try_acquire({"order", "42"});
  const auto watch = held->watch_risk(5s, [](bool at_risk) {
    std::cout << (at_risk ? "five seconds left\n" : "renewed after all\n");
  });
  if (held->extend(2min) == rowlock::extend_result::extended) {
    std::cout << "two minutes: " << std::boolalpha << (held->remaining() > 1min) << '\n';
  }

  const auto secret = held->pass_on();  // goes to the worker, as a message for instance
  std::cout << "web1 still has it: " << held->is_valid() << '\n';
  const auto shipped = workers.with_lock_taken_over(secret, [&](const rowlock::lease& taken) {
    std::cout << "worker7 ships with a greater token: " << (taken.token() > held->token()) << '\n';
  });
  std::cout << "shipped: " << shipped.kept() << "; again: " << workers.take_over(secret).acquired()
            << '\n';
}
