// At most three at a time, and many readers or one writer.
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
