// How the leases of a lock_table end: by a release, or with the lock_table.
#include <gtest/gtest.h>

#include <future>
#include <optional>
#include <thread>

#include "lease/lease_state_test.hpp"
#include "rowlock/error.hpp"
#include "rowlock/fence.hpp"
#include "rowlock/testing/memory_store.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {
namespace {

class LeaseEnd : public lease_state_test {};

TEST_F(LeaseEnd, AReleaseThatFailsIsMadeLaterInTheBackground) {
  rows_.before("release", [this] {
    if (rows_.batches("release").size() < 3) throw error{errc::unavailable, "the network is down"};
  });
  lease held = acquire("a");
  EXPECT_EQ(held.release(), release_result::deferred);
  EXPECT_FALSE(held.is_valid());
  rows_.await_moving(*time_, "release", 3);
  await_that([&] { return is_free("a"); });
}

TEST_F(LeaseEnd, AReleaseThatFindsTheRowBusyIsMadeLater) {
  lease held = acquire("a");
  std::optional<memory_transaction> in_the_way{std::in_place, rows_.rows()};
  fence(*in_the_way, held);
  auto releasing = std::async(std::launch::async, [&] { return held.release(); });
  await_answer(releasing, [&] { time_->advance(5ms); });
  EXPECT_EQ(releasing.get(), release_result::deferred);
  rows_.await_one_more(*time_, "release");  // in the background
  in_the_way.reset();
  await_that([&] { return is_free("a"); }, [&] { time_->advance(1ms); });
}

TEST_F(LeaseEnd, AReleaseThatFailedIsNotMadeOnceTheLeaseHasRunOut) {
  rows_.before("release", [] { throw error{errc::unavailable, "the network is down"}; });
  lease held = acquire("a");
  EXPECT_EQ(held.release(), release_result::deferred);
  rows_.before("release", {});
  time_->advance(30s);
  locks_.reset();
  EXPECT_EQ(rows_.batches("release").size(), 1U);
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
