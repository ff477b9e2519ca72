// Faults on demand, for the tests of applications.
#include "rowlock/testing/faulty_store.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>

#include "rowlock/error.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/testing/memory_store.hpp"
#include "support/caught_error.hpp"

namespace rowlock::tests {
namespace {

using namespace std::chrono_literals;
using call = faulty_store::call;

class FaultyStore : public testing::Test {
 protected:
  /// What the caller of `try_acquire` gets.
  std::optional<errc> fault_of_an_attempt() {
    return kind_thrown_by([this] { (void)locks_.try_acquire(key_); });
  }

  memory_store memory_;
  faulty_store rows_{memory_};
  lock_table locks_{rows_};
  const lock_key key_{"job", "nightly"};
};

TEST_F(FaultyStore, PassesCallsOn) {
  EXPECT_EQ(locks_.with_lock(key_, [&] { return memory_.list().size(); }).operator*(), 1U);
  EXPECT_EQ(rows_.pending(), 0U);
}

TEST_F(FaultyStore, MakesNoCallThatIsToBeUnavailable) {
  rows_.next_is_unavailable(call::acquire);
  EXPECT_EQ(fault_of_an_attempt(), errc::unavailable);
  EXPECT_TRUE(memory_.list().empty());
  EXPECT_TRUE(locks_.try_acquire(key_).acquired());
}

TEST_F(FaultyStore, MakesACallThatIsToBeInDoubt) {
  rows_.next_is_in_doubt(call::acquire);
  EXPECT_TRUE(locks_.try_acquire(key_).acquired()) << "the grant was not recognised";
  rows_.next_is_in_doubt(call::acquire);
  rows_.next_is_in_doubt(call::acquire);
  EXPECT_EQ(fault_of_an_attempt(), errc::outcome_unknown);
  EXPECT_EQ(memory_.list().size(), 1U);
}

TEST_F(FaultyStore, WaitsForTheCallThatIsMeant) {
  rows_.next_is_unavailable(call::release);
  auto held = *locks_.try_acquire(key_);
  EXPECT_EQ(rows_.pending(), 1U);
  EXPECT_EQ(held.release(), release_result::deferred);
  EXPECT_EQ(rows_.pending(), 0U);
}

TEST_F(FaultyStore, IsSlowByItsClock) {
  const auto time = std::make_shared<manual_time>();
  faulty_store slow{memory_, time};
  slow.next_is_slow(10s, call::acquire);
  std::jthread moving{[&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      time->advance(1s);
      std::this_thread::sleep_for(1ms);
    }
  }};
  lock_table locks{slow};
  const auto began = time->now();
  EXPECT_TRUE(locks.try_acquire(key_).acquired());
  EXPECT_GE(time->now() - began, 10s);
}

}  // namespace
}  // namespace rowlock::tests
