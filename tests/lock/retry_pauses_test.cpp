// What a thread that tries for several keys leaves for the others of its lock_table.
#include <gtest/gtest.h>

#include <chrono>
#include <exception>
#include <memory>

#include "lock/set_attempt.hpp"
#include "rowlock/error.hpp"
#include "support/hooked_store.hpp"

namespace rowlock::tests {
namespace {

using namespace std::chrono_literals;

class RetryPauses : public testing::Test {
 protected:
  ~RetryPauses() override { leases_.close(); }

  static std::exception_ptr fault() {
    return std::make_exception_ptr(error{errc::unavailable, "the server is away: wait"});
  }

  const lock_key key_{"job", "a"};
  std::shared_ptr<manual_time> time_ = std::make_shared<manual_time>();
  hooked_store rows_{time_};
  detail::lease_keeper leases_{rows_, lock_options{.holder = "ours", .time = time_}};
};

TEST_F(RetryPauses, ThatIsGrantedASetEndsAnOutage) {
  detail::retry_pauses pauses{leases_, no_wait()};
  leases_.outage().failed(3, fault(), time_->now());
  const detail::set_request wanted{
      {{.request = {.key = key_, .owner = pauses.owner(), .holder = "ours", .ttl = 30s}}}};
  const auto end = detail::acquire(leases_, wanted, pauses);
  ASSERT_FALSE(end.refused);
  EXPECT_FALSE(leases_.outage().is_known());
}

TEST_F(RetryPauses, ThrowsAnotherObjectThanItLeavesForOtherThreads) {
  detail::retry_pauses pauses{leases_, wait_for(1s)};
  time_->advance(1s);
  const auto mine = fault();
  std::exception_ptr thrown;
  try {
    (void)pauses.pause_after(mine, key_);
  } catch (...) {
    thrown = std::current_exception();
  }
  ASSERT_EQ(thrown, mine);
  ASSERT_NE(leases_.outage().why(), nullptr);
  EXPECT_NE(leases_.outage().why(), thrown);
}

}  // namespace
}  // namespace rowlock::tests
