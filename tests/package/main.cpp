// What a user's first program does: compiles without the drivers' headers, links, takes a lock.
#include <rowlock/lock_table.hpp>
#include <rowlock/postgres_store.hpp>
#include <rowlock/sqlite_store.hpp>
#include <rowlock/testing/memory_store.hpp>

int main() {
  const rowlock::postgres_store opened_later{"postgresql://nowhere/none"};
  const rowlock::sqlite_store opened_later_too{"none.db"};

  rowlock::memory_store store;
  rowlock::lock_table locks{store};
  const auto answer = locks.with_lock({.type = "invoice", .source_id = "42"}, [] { return 42; });
  return answer.acquired() && *answer == 42 ? 0 : 1;
}
