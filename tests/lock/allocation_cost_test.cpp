// How often a lock_table allocates memory when no other caller is in the way.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "postgres/postgres_table.hpp"
#include "race/allocations.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/sqlite_store.hpp"
#include "rowlock/testing/memory_store.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::tests {
namespace {

struct allocations {
  std::uint64_t acquire = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t release = acquire;
};

/// Of a row that is there, on a connection that is open, with statements that are prepared.
allocations of_one_lease_on(store& rows) {
  lock_table locks{rows, {.holder = "host:1"}};
  const lock_key key{"invoice", "42"};
  allocations least;
  for (int i = 0; i < 10; ++i) {
    const auto before = race::allocations_of_this_thread();
    auto held = locks.try_acquire(key);
    const auto between = race::allocations_of_this_thread();
    EXPECT_EQ(held->release(), release_result::released);
    const auto after = race::allocations_of_this_thread();
    least.acquire = std::min(least.acquire, between - before);
    least.release = std::min(least.release, after - between);
  }
  return least;
}

using PostgresAllocations = postgres_table;

TEST(MemoryAllocations, AreFew) {
  memory_store rows;
  const auto counted = of_one_lease_on(rows);
  EXPECT_LE(counted.acquire, 9);
  EXPECT_LE(counted.release, 4);
}

TEST(SqliteAllocations, AreFew) {
  const temp_folder folder;
  const std::string path = folder.path() / "locks.db";
  migrate_sqlite(path);
  sqlite_store rows{path};
  const auto counted = of_one_lease_on(rows);
  // The row is read first, with when its last holder had it. A release sets how its commit is
  // flushed, and sets that back.
  EXPECT_LE(counted.acquire, 15);
  EXPECT_LE(counted.release, 8);
}

TEST_F(PostgresAllocations, AreFew) {
  auto rows = open_store();
  const auto counted = of_one_lease_on(rows);
  EXPECT_LE(counted.acquire, 8);
  EXPECT_LE(counted.release, 6);
}

}  // namespace
}  // namespace rowlock::tests
