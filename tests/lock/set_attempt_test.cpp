// What an attempt for several rows leaves for the other threads of its lock_table.
#include "lock/set_attempt.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <exception>
#include <memory>
#include <optional>

#include "rowlock/error.hpp"
#include "support/hooked_store.hpp"

namespace rowlock::tests {
namespace {

using namespace std::chrono_literals;

class SetAttempt : public testing::Test {
 protected:
  ~SetAttempt() override { leases_.close(); }

  static std::exception_ptr fault() {
    return std::make_exception_ptr(error{errc::unavailable, "the server is away: wait"});
  }

  const lock_key key_{"job", "a"};
  std::shared_ptr<manual_time> time_ = std::make_shared<manual_time>();
  hooked_store rows_{time_};
  detail::lease_keeper leases_{rows_, lock_options{.holder = "ours", .time = time_}};
};

TEST_F(SetAttempt, ThatIsGrantedEndsAnOutage) {
  detail::set_attempt attempt{leases_, {}, "all of", {key_}};
  leases_.outage().failed(3, fault(), time_->now());
  detail::set_request wanted{
      {{.request = {.key = key_, .owner = attempt.owner(), .holder = "ours", .ttl = 30s}}}};
  ASSERT_FALSE(attempt.try_for(wanted).refused);
  EXPECT_FALSE(leases_.outage().is_known());
}

TEST_F(SetAttempt, ThrowsAnotherObjectThanItLeavesForOtherThreads) {
  detail::set_attempt attempt{leases_, {.wait = 1s}, "all of", {key_}};
  const auto mine = fault();
  std::exception_ptr thrown;
  try {
    (void)attempt.go_on([&]() -> std::optional<detail::obstacle> {
      time_->advance(1s);
      std::rethrow_exception(mine);
    });
  } catch (...) {
    thrown = std::current_exception();
  }
  ASSERT_NE(thrown, nullptr);
  ASSERT_NE(leases_.outage().why(), nullptr);
  EXPECT_NE(leases_.outage().why(), mine);
  EXPECT_NE(leases_.outage().why(), thrown);
}

}  // namespace
}  // namespace rowlock::tests
