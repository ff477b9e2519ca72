// What a user's first program with Asio does: compiles, links, takes a lock.
#include <asio.hpp>
#include <rowlock/asio.hpp>
#include <rowlock/lock_table.hpp>
#include <rowlock/testing/memory_store.hpp>

int main() {
  rowlock::memory_store store;
  rowlock::lock_table locks{store};
  const auto held = rowlock::async_acquire(locks, {"invoice", "42"}, {}, asio::use_future).get();
  return held.acquired() ? 0 : 1;
}
