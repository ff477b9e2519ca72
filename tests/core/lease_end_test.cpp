// How the leases of a lock_table end: by a release, or with the lock_table.
#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "core/kept_lease_test.hpp"
#include "rowlock/error.hpp"

namespace rowlock::tests {
namespace {

class LeaseEnd : public kept_lease_test {};

TEST_F(LeaseEnd, AReleaseThatFailsIsMadeLaterInTheBackground) {
  rows_.before("release", [this] {
    if (rows_.batches("release").size() < 3) throw error{errc::unavailable, "the network is down"};
  });
  lease held = acquire("a");
  EXPECT_EQ(held.release(), release_result::deferred);
  EXPECT_FALSE(held.is_valid());
  rows_.await_moving(*time_, "release", 3);
  while (!is_free("a")) std::this_thread::yield();
}

TEST_F(LeaseEnd, DestroyingTheLockTableUnsetsTheRowsAndTheLeasesAreLost) {
  const lease held = acquire("a");
  locks_.reset();
  EXPECT_TRUE(is_free("a"));
  EXPECT_FALSE(held.is_valid());
  EXPECT_TRUE(held.lost().stop_requested());
}

TEST_F(LeaseEnd, DestroyingTheLockTableStopsThoseWhoWait) {
  const lease held = acquire("a");
  std::optional<lock_table> waited{std::in_place, rows_, lock_options{.time = time_}};
  std::optional<refusal> refused;
  std::thread waiter{[&] {
    refused = waited->try_acquire({"job", "a"}, {.wait = wait_forever()}).refusal();
  }};
  rows_.await("acquire", 2);
  waited.reset();
  waiter.join();
  EXPECT_EQ(refused->reason, refusal_reason::stopped);
  EXPECT_TRUE(held.is_valid());
}

}  // namespace
}  // namespace rowlock::tests
