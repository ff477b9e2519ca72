// Faults on demand, for the tests of applications.
#include "rowlock/testing/faulty_store.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <optional>

#include "rowlock/error.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/testing/memory_store.hpp"
#include "support/caught_error.hpp"
#include "support/clock_of_waiters.hpp"

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
  const auto clock = std::make_shared<clock_of_waiters>(time);
  faulty_store slow{memory_, clock};
  slow.next_is_slow(10s, call::acquire);
  lock_table locks{slow};
  auto waiting = std::async(std::launch::async, [&] { return locks.try_acquire(key_); });
  clock->await_wait_until(time->now() + 10s);
  EXPECT_TRUE(memory_.list().empty());
  time->advance(10s);
  EXPECT_TRUE(waiting.get().acquired());
}

}  // namespace
}  // namespace rowlock::tests
