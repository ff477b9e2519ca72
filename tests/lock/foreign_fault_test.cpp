// A user's own store throws what is no `error`, not even a std::exception.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <thread>

#include "lease/observed_leases.hpp"
#include "rowlock/async.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {
namespace {

struct their_fault {};

class ForeignFault : public Observer {
 protected:
  using attempt = std::future<outcome<lease>>;

  attempt waiter() {
    return std::async(std::launch::async,
                      [this] { return locks_->try_acquire(key_, {.wait = wait_forever()}); });
  }
  void fail(const std::string& operation) {
    rows_.before(operation, [] { throw their_fault{}; });
  }
  void move_until_answered(attempt& waiting) {
    await_answer(waiting, [&] { time_->advance(10ms); });
  }
};

TEST_F(ForeignFault, OfAQuestionReachesWhoWaits) {
  auto held = theirs_.try_acquire(key_);
  auto waiting = waiter();
  rows_.await_moving(*time_, "watch", 1);
  fail("acquire");
  held->release();
  move_until_answered(waiting);
  EXPECT_THROW((void)waiting.get(), their_fault);
}

TEST_F(ForeignFault, OfALookReachesAllThatWait) {
  const auto held = theirs_.try_acquire(key_);
  fail("watch");
  auto one = waiter();
  auto other = waiter();
  move_until_answered(one);
  move_until_answered(other);
  EXPECT_THROW((void)one.get(), their_fault);
  EXPECT_THROW((void)other.get(), their_fault);
}

TEST_F(ForeignFault, OfAQuestionReachesWhoDoesNotBlock) {
  fail("acquire");
  std::promise<std::exception_ptr> caught;
  start_acquire(*locks_, key_, {}, [&](acquire_end end) { caught.set_value(end.fault); });
  const auto fault = caught.get_future().get();
  ASSERT_NE(fault, nullptr);
  EXPECT_THROW(std::rethrow_exception(fault), their_fault);
}

TEST_F(ForeignFault, OfARenewalIsAFaultLikeAnyOther) {
  const lease held = acquire("a");
  fail("renew");
  time_->advance(10s);
  EXPECT_EQ(observer_->await<fault_event>().operation, fault_operation::renew);
  EXPECT_NE(observer_->await<fault_event>().text, "");
  rows_.before("renew", {});
  rows_.await_moving(*time_, "renew", 2);
  EXPECT_EQ(observer_->await<renewed_event>().token, held.token());
}

TEST_F(ForeignFault, OfAReleaseIsOneThatIsMadeLater) {
  auto held = acquire("a");
  fail("release");
  EXPECT_EQ(held.release(), release_result::deferred);
  rows_.await_moving(*time_, "release", 2);
  rows_.before("release", {});
  await_that([this] { return !rows_.rows().read(std::array{key_}).front()->owned; },
             [this] { time_->advance(10ms); });
}

TEST_F(ForeignFault, OfTheSettingsIsPassedOver) {
  fail("weak_settings");
  const lease held = acquire("a");
  rows_.await("weak_settings", 1);
  time_->advance(10s);
  rows_.await("weak_settings", 2);
  EXPECT_TRUE(held.is_valid());
}

TEST_F(ForeignFault, OfACallOfOurOwnThreadIsObserved) {
  fail("prepare");
  EXPECT_THROW((void)locks_->read(key_), their_fault);
  fail("acquire_all");
  EXPECT_THROW((void)locks_->try_acquire_all({key_}), their_fault);
  locks_.reset();
  EXPECT_EQ(faults_of(fault_operation::read), std::vector{key_});
  EXPECT_EQ(faults_of(fault_operation::acquire), std::vector{key_});
}

}  // namespace
}  // namespace rowlock::tests
