// At most three at a time, and many readers or one writer.
#include <chrono>
#include <iostream>
#include <vector>

#include "rowlock/lock_table.hpp"
#include "rowlock/read_write_lock.hpp"
#include "rowlock/semaphore.hpp"
#include "rowlock/sqlite_store.hpp"

int main() {
  rowlock::migrate_sqlite("permits.db");
  rowlock::sqlite_store store{"permits.db"};
  rowlock::lock_table locks{store};

  // Every process that uses the name makes one like it.
  rowlock::semaphore printers{locks, {"printer", "2nd floor"}, 3};
  std::vector<rowlock::lease> printing;
  for (auto permit = printers.try_acquire(); permit.acquired(); permit = printers.try_acquire()) {
    printing.push_back(*std::move(permit));
  }
  std::cout << printing.size() << " print, the next one waits\n";

  // At most two calls in each minute: a permit stays taken for a minute.
  rowlock::semaphore calls{locks, {"api", "calls"}, 2};
  for (int i = 1; i <= 3; ++i) {
    const auto called = calls.with_permit([] {}, {.hold_at_least = std::chrono::minutes{1}});
    std::cout << "call " << i << ": " << std::boolalpha << called.acquired() << '\n';
  }

  rowlock::read_write_lock catalogue{locks, {"catalogue", "main"}};
  auto one = catalogue.try_acquire_shared();
  auto other = catalogue.try_acquire_shared();
  std::cout << "two read; a writer gets in: " << std::boolalpha
            << catalogue.try_acquire_exclusive().acquired() << '\n';
  one->release();
  other->release();
  const auto written = catalogue.with_exclusive([&] {
    std::cout << "one writes; a reader gets in: " << catalogue.try_acquire_shared().acquired()
              << '\n';
  });
  std::cout << "written: " << written.kept() << '\n';
}
