// The events of an observer.
#include "rowlock/observer.hpp"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "lease/observed_leases.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {
namespace {

TEST_F(Observer, IsToldOfAGrantAndHowLongItTook) {
  rows_.before("acquire", [this] { time_->advance(2s); });
  const lease held = acquire("a");
  const auto event = observer_->await<acquired_event>();
  EXPECT_EQ(event.key, key_);
  EXPECT_EQ(event.token, held.token());
  EXPECT_EQ(event.took, 2s);
  EXPECT_EQ(event.waited, 0s);
}

TEST_F(Observer, IsToldOfARefusalAndByWhom) {
  const lease held = *theirs_.try_acquire(key_);
  rows_.before("acquire", [this] { time_->advance(2s); });
  EXPECT_FALSE(locks_->try_acquire(key_).acquired());
  const auto event = observer_->await<refused_event>();
  EXPECT_EQ(event.refusal.key, key_);
  EXPECT_EQ(event.refusal.reason, refusal_reason::held);
  EXPECT_EQ(event.refusal.holder, "theirs");
  EXPECT_EQ(event.took, 2s);
  EXPECT_EQ(observer_->count<waited_event>(), 0);
}

TEST_F(Observer, IsToldOfAWaitBeforeTheGrantThatEndsIt) {
  rows_.let_listen();
  auto held = *theirs_.try_acquire(key_);
  auto waiting = std::async(std::launch::async,
                            [this] { return locks_->try_acquire(key_, {.wait = wait_forever()}); });
  rows_.await_moving(*time_, "watch", 1);
  time_->advance(5s);
  held.release();
  ASSERT_TRUE(waiting.get().acquired());
  const auto acquired = observer_->await<acquired_event>();
  const auto waited = observer_->await<waited_event>();
  EXPECT_EQ(waited.key, key_);
  EXPECT_GE(waited.waited, 5s);
  EXPECT_EQ(acquired.waited, waited.waited);
  EXPECT_GE(acquired.took, acquired.waited);
  EXPECT_TRUE(std::holds_alternative<waited_event>(observer_->events().front()));
}

TEST_F(Observer, HasTheCorrelationIdInTheEventsOfAnAttemptAndItsLease) {
  const lease held = *theirs_.try_acquire(key_);
  const acquire_options options{.wait = 5ms, .correlation_id = "request 7"};
  rows_.before("acquire", [] { throw error{errc::unavailable, "the network is down: wait"}; });
  EXPECT_THROW((void)locks_->try_acquire(key_, {.correlation_id = "request 7"}), error);
  rows_.before("acquire", {});
  EXPECT_FALSE(locks_->try_acquire(key_, {.correlation_id = "request 7"}).acquired());
  {
    auto released = *locks_->try_acquire({"job", "b"}, options);
    time_->advance(10s);
    EXPECT_EQ(observer_->await<renewed_event>().correlation_id, "request 7");
    rows_.before("write_note", [] { throw error{errc::unavailable, "the network is down: wait"}; });
    EXPECT_THROW((void)released.write_note("half"), error);
    rows_.before("write_note", {});
    released.release();
    const auto set = *locks_->try_acquire_all({{"job", "d"}}, options);
    const auto left = *locks_->try_acquire({"job", "c"}, options);
    locks_.reset();
  }
  std::size_t named = 0;
  for (const auto& each : observer_->events()) {
    std::visit(
        [&](const auto& event) {
          if constexpr (requires { event.correlation_id; }) {
            EXPECT_EQ(event.correlation_id, "request 7") << each.index();
            ++named;
          }
        },
        each);
  }
  EXPECT_EQ(observer_->count<fault_event>(), 2);
  EXPECT_EQ(observer_->count<refused_event>(), 1);
  EXPECT_EQ(observer_->count<acquired_event>(), 3);
  EXPECT_EQ(observer_->count<released_event>(), 1);
  EXPECT_EQ(observer_->count<lost_event>(), 2);
  EXPECT_EQ(named, observer_->events().size());
}

TEST_F(Observer, IsToldOnceOfEachSettingThatWeakensAPromise) {
  rows_.weaken({"commits may be lost: set sync=on", "rows may be cut: set strict=on"});
  const lease one = acquire("a");
  const lease two = acquire("b");
  time_->advance(10s);
  rows_.await("renew", 1);
  locks_.reset();  // all events are delivered
  std::vector<std::string> event;
  for (const auto& each : observer_->events()) {
    if (const auto* weak = std::get_if<weak_setting_event>(&each)) event.push_back(weak->text);
  }
  EXPECT_EQ(event, (std::vector<std::string>{"commits may be lost: set sync=on",
                                             "rows may be cut: set strict=on"}));
  EXPECT_EQ(rows_.batches("weak_settings").size(), 1);
}

TEST_F(Observer, IsToldOfWeakSettingsWhenTheDatabaseCanBeAskedAgain) {
  rows_.weaken({"commits may be lost: set sync=on"});
  rows_.before("weak_settings", [] { throw error{errc::unavailable, "no network: wait"}; });
  const lease held = acquire("a");
  rows_.await("weak_settings", 1);
  rows_.before("weak_settings", {});
  time_->advance(10s);  // a renewal
  EXPECT_EQ(observer_->await<weak_setting_event>().text, "commits may be lost: set sync=on");
}

TEST_F(lease_state_test, AsksNoDatabaseForItsSettingsWhenNobodyObserves) {
  const lease held = acquire("a");
  time_->advance(10s);
  rows_.await("renew", 1);
  EXPECT_TRUE(rows_.batches("weak_settings").empty());
}

TEST_F(Observer, IsToldOfAWaitBeforeTheRefusalThatEndsIt) {
  const lease held = *theirs_.try_acquire(key_);
  auto waiting = std::async(std::launch::async,
                            [this] { return locks_->try_acquire(key_, {.wait = wait_for(3s)}); });
  rows_.await_moving(*time_, "watch", 1);
  time_->advance(3s);
  ASSERT_FALSE(waiting.get().acquired());
  EXPECT_EQ(observer_->await<refused_event>().refusal.reason, refusal_reason::timed_out);
  EXPECT_EQ(observer_->await<refused_event>().waited, observer_->await<waited_event>().waited);
}

TEST_F(Observer, IsToldWhoseLeaseAGrantTookOver) {
  lock_table dying{rows_.rows(), {.ttl = 2s, .renew = false, .holder = "dying", .time = time_}};
  const lease left = *dying.try_acquire(key_);
  time_->advance(5s);
  const lease held = acquire("a");
  const auto event = observer_->await<expired_takeover_event>();
  EXPECT_EQ(event.key, key_);
  EXPECT_EQ(event.token, held.token());
  EXPECT_EQ(event.holder, "dying");
  EXPECT_EQ(event.ran_out_ago, 3s);
}

TEST_F(Observer, IsToldOfATakeoverThatEndsAWait) {
  lock_table dying{rows_.rows(), {.ttl = 2s, .renew = false, .holder = "dying", .time = time_}};
  const lease left = *dying.try_acquire(key_);
  auto waiting = std::async(std::launch::async,
                            [this] { return locks_->try_acquire(key_, {.wait = wait_forever()}); });
  await_answer(waiting, [&] { time_->advance(20ms); });
  ASSERT_TRUE(waiting.get().acquired());
  EXPECT_EQ(observer_->await<expired_takeover_event>().holder, "dying");
}

TEST_F(Observer, IsToldOfARenewalAndHowMuchTimeWasLeft) {
  const lease held = acquire("a");
  rows_.before("renew", [this] { time_->advance(4s); });
  time_->advance(10s);
  const auto event = observer_->await<renewed_event>();
  EXPECT_EQ(event.key, key_);
  EXPECT_EQ(event.token, held.token());
  EXPECT_EQ(event.took, 4s);
  EXPECT_EQ(event.left, 15s);
  EXPECT_EQ(event.valid_for, 29s);
}

TEST_F(Observer, IsToldOfAReleaseAndHowLongTheLeaseWasHeld) {
  auto held = acquire("a");
  time_->advance(3s);
  rows_.before("release", [this] { time_->advance(2s); });
  const auto token = held.token();
  ASSERT_EQ(held.release(), release_result::released);
  const auto event = observer_->await<released_event>();
  EXPECT_EQ(event.key, key_);
  EXPECT_EQ(event.token, token);
  EXPECT_EQ(event.result, release_result::released);
  EXPECT_FALSE(event.failed);
  EXPECT_EQ(event.held_for, 3s);
  EXPECT_EQ(event.took, 2s);
  held.release();
  locks_.reset();
  EXPECT_EQ(observer_->count<released_event>(), 1);
}

TEST_F(Observer, IsToldThatTheCallbackThrew) {
  EXPECT_THROW((void)locks_->with_lock(key_, [] { throw std::runtime_error{"no"}; }),
               std::runtime_error);
  EXPECT_TRUE(observer_->await<released_event>().failed);
}

TEST_F(Observer, IsToldOfADeferredReleaseAndOfItsEnd) {
  auto held = acquire("a");
  rows_.before("release", [] { throw error{errc::unavailable, "the network is down: wait"}; });
  ASSERT_EQ(held.release(), release_result::deferred);
  rows_.before("release", {});
  rows_.await_moving(*time_, "release", 2);
  locks_.reset();
  EXPECT_EQ(observer_->await<fault_event>().operation, fault_operation::release);
  EXPECT_EQ(observer_->await<released_event>().result, release_result::deferred);
  const auto last = std::get<released_event>(observer_->events().back());
  EXPECT_EQ(last.result, release_result::released);
  EXPECT_EQ(last.key, key_);
  EXPECT_EQ(last.held_for, observer_->await<released_event>().held_for);
}

TEST_F(Observer, IsToldThatALeaseRanOutAndWhy) {
  const lease held = acquire("a");
  run_out_at_once();
  const auto event = observer_->await<lost_event>();
  EXPECT_EQ(event.key, key_);
  EXPECT_EQ(event.token, held.token());
  EXPECT_EQ(event.reason, loss_reason::ran_out);
  EXPECT_EQ(event.held_for, 29s);
}

/// Of a database whose clock runs ahead, so that another holder gets the row sooner than the first
/// one expects.
class ObserverOfATheft : public Observer {
 protected:
  lease stolen() {
    auto held = *ours_.try_acquire(key_);
    ahead_->advance(31s);
    taken_.emplace(*thieves_.try_acquire(key_));
    return held;
  }

  std::shared_ptr<manual_time> ahead_ = std::make_shared<manual_time>();
  hooked_store there_{ahead_};
  lock_table thieves_{there_, {.ttl = 30s, .renew = false, .time = time_}};
  lock_table ours_{there_, observed()};
  std::optional<lease> taken_;
};

TEST_F(ObserverOfATheft, IsToldWhenARenewalFindsIt) {
  const lease held = stolen();
  time_->advance(10s);
  EXPECT_EQ(observer_->await<lost_event>().reason, loss_reason::taken_away);
  EXPECT_EQ(observer_->await<lost_event>().token, held.token());
}

TEST_F(ObserverOfATheft, IsToldWhenTheReleaseFindsIt) {
  auto held = stolen();
  ASSERT_EQ(held.release(), release_result::lost);
  EXPECT_EQ(observer_->await<lost_event>().reason, loss_reason::taken_away);
  EXPECT_EQ(observer_->count<released_event>(), 0);
}

TEST_F(Observer, IsToldOfTheLeasesThatAClosingTableEndsBeforeItIsGone) {
  const lease held = acquire("a");
  locks_.reset();
  ASSERT_EQ(observer_->count<lost_event>(), 1);
  EXPECT_EQ(observer_->await<lost_event>().reason, loss_reason::closed);
}

TEST_F(Observer, IsToldOfAReleaseThatWasMadeWhereAnotherOneOfTheSetIsInDoubt) {
  auto held = *locks_->try_acquire_all({key_, {"job", "b"}});
  const auto& riding = held.leases().front();
  {
    memory_transaction rolled_back{rows_.rows()};
    release_with(rolled_back, riding, {});
  }
  rows_.rows().force_release({.key = key_, .version = riding.token(), .reason = "a test"});
  rows_.before("read", [] { throw error{errc::unavailable, "the network is down: wait"}; });
  EXPECT_EQ(held.release(), release_result::deferred);
  EXPECT_EQ(observer_->await<fault_event>().keys, 1);
  EXPECT_EQ(observer_->await<released_event>().result, release_result::released);
}

TEST_F(Observer, IsToldOfAFaultOfEachOperation) {
  const auto fail = [] { throw error{errc::unavailable, "the network is down: wait"}; };
  const lease held = acquire("b");
  const lease other = acquire("c");
  rows_.before("renew", fail);
  time_->advance(10s);
  const auto renewal = observer_->await<fault_event>();
  EXPECT_EQ(renewal.operation, fault_operation::renew);
  EXPECT_EQ(renewal.code, errc::unavailable);
  EXPECT_NE(renewal.text.find("the network is down"), std::string::npos) << renewal.text;
  EXPECT_EQ(renewal.keys, 2);

  rows_.before("acquire", fail);
  EXPECT_THROW((void)locks_->try_acquire(key_), error);
  rows_.before("prepare", fail);
  EXPECT_THROW((void)locks_->read(key_), error);
  locks_.reset();
  EXPECT_EQ(faults_of(fault_operation::acquire), std::vector{key_});
  EXPECT_EQ(faults_of(fault_operation::read), std::vector{key_});
}

}  // namespace
}  // namespace rowlock::tests
