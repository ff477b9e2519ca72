// A program with the store for tests.
#include <rowlock/lock_table.hpp>
#include <rowlock/testing/memory_store.hpp>

int main() {
  rowlock::memory_store store;
  rowlock::lock_table locks{store};
  return locks.try_acquire({"invoice", "42"}).acquired() ? 0 : 1;
}
