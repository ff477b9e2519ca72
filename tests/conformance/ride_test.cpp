// What becomes of a lease after a transaction that was to release it was rolled back.
#include <chrono>
#include <memory>
#include <stop_token>
#include <thread>

#include "conformance/store_test.hpp"
#include "rowlock/lock_table.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {
namespace {

class Ride : public store_test {};

TEST_P(Ride, ThatWasRolledBackDoesNotHideALaterLoss) {
  lock_table locks{*rows_, {.ttl = 2s, .margin = 1ms}};
  lease held = *locks.try_acquire(key_);
  {
    const auto application = bench_->connect();
    const auto work = *application->begin();
    work->release_with(held);
  }
  const auto end = boot_clock::now() + patience;
  for (const auto granted = held.valid_until(); held.valid_until() == granted;) {
    ASSERT_LT(boot_clock::now(), end) << "never renewed";
    std::this_thread::sleep_for(1ms);
  }
  bench_->run_out(key_);
  ASSERT_EQ(acquire(key_, make_owner_id()).status, acquire_status::granted);
  while (!held.lost().stop_requested()) {
    ASSERT_LT(boot_clock::now(), end) << "never told";
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_EQ(held.release(), release_result::lost);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Ride);
INSTANTIATE_TEST_SUITE_P(Stores, Ride, testing::ValuesIn(stores_with_transactions()), name_of);

}  // namespace
}  // namespace rowlock::tests
