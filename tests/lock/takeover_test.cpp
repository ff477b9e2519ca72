// Leases that pass from one lock_table to another: faults, events, misuse.
#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "lease/observed_leases.hpp"
#include "rowlock/error.hpp"
#include "rowlock/fence.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {
namespace {

class Takeover : public lease_state_test {
 protected:
  lock_table theirs_{rows_, {.ttl = 30s, .margin = 1s, .holder = "theirs", .time = time_}};

  static void expect_stale(const outcome<lease>& taken) {
    ASSERT_FALSE(taken.acquired());
    EXPECT_EQ(taken.refusal().reason, refusal_reason::stale);
  }
};

TEST_F(Takeover, ALeaseThatWasPassedOnIsNeitherRenewedNorReleasedNorLost) {
  lease held = acquire("a");
  const auto text = held.pass_on();
  EXPECT_FALSE(held.is_valid());
  time_->advance(10s);
  const lease other = acquire("other", 3s);  // shows that the renewer goes on
  time_->advance(1s);
  rows_.await_answers("renew", 1);
  EXPECT_EQ(rows_.batches("renew"), std::vector<std::size_t>{1});
  EXPECT_FALSE(is_free("a"));
  time_->advance(30s);
  EXPECT_FALSE(held.lost().stop_requested());
  EXPECT_EQ(held.release(), release_result::passed_on);
  EXPECT_TRUE(rows_.batches("release").empty());
}

TEST_F(Takeover, ByTheOtherProcessIsRenewedThere) {
  const lease held = acquire("a");
  const auto taken = theirs_.take_over(held.pass_on());
  ASSERT_TRUE(taken.acquired());
  EXPECT_GT(taken->token(), held.token());
  EXPECT_EQ(taken->key(), held.key());
  time_->advance(10s);
  await_that([&] { return taken->remaining() == 29s; });
}

TEST_F(Takeover, ACallbackMayPassItsLeaseOn) {
  std::string text;
  const auto ran =
      locks_->with_lock({"job", "a"}, [&](const lease& held) { text = held.pass_on(); });
  EXPECT_TRUE(ran.kept());
  EXPECT_FALSE(is_free("a"));
  EXPECT_TRUE(theirs_.take_over(text).acquired());
}

TEST_F(Takeover, AfterTheTtlIsRefusedAndTheKeyIsFree) {
  const auto text = acquire("a").pass_on();
  time_->advance(30s);
  expect_stale(theirs_.take_over(text));
  EXPECT_TRUE(theirs_.try_acquire({"job", "a"}).acquired());
  const auto late = theirs_.take_over(text);
  EXPECT_FALSE(late.acquired());
}

TEST_F(Takeover, OfALeaseThatAnotherHolderHasNamesThatHolder) {
  const auto text = acquire("a").pass_on();
  time_->advance(30s);
  const auto other = theirs_.try_acquire({"job", "a"});
  ASSERT_TRUE(other.acquired());
  const auto late = locks_->take_over(text);
  ASSERT_FALSE(late.acquired());
  EXPECT_EQ(late.refusal().reason, refusal_reason::held);
  EXPECT_EQ(late.refusal().holder, "theirs");
}

TEST_F(Takeover, OfOneOfSeveralLeavesTheOthersToTheirSet) {
  auto both = locks_->try_acquire_all({{"job", "a"}, {"job", "b"}});
  ASSERT_TRUE(both.acquired());
  const auto text = both->find({"job", "a"})->pass_on();
  EXPECT_EQ(both->release(), release_result::passed_on);
  EXPECT_TRUE(is_free("b"));
  EXPECT_TRUE(theirs_.take_over(text).acquired());
}

TEST_F(Takeover, PassingOnTwiceOrALeaseThatIsOverThrows) {
  const lease held = acquire("a");
  const auto text = held.pass_on();
  EXPECT_THROW(static_cast<void>(held.pass_on()), lease_lost);
  lease released = acquire("b");
  released.release();
  EXPECT_THROW(static_cast<void>(released.pass_on()), lease_lost);
  const lease late = acquire("c");
  rows_.before("renew", [] { throw error{errc::unavailable, "away"}; });
  time_->advance(29s);
  EXPECT_THROW(static_cast<void>(late.pass_on()), lease_lost);
}

TEST_F(Takeover, OfALeaseThatATransactionReleasesIsMisuse) {
  const lease held = acquire("a");
  memory_transaction work{rows_.rows()};
  release_with(work, held);
  EXPECT_TRUE(is_misuse([&] { static_cast<void>(held.pass_on()); }));
}

TEST_F(Takeover, WithOptionsThatItCannotHaveIsMisuse) {
  const lease held = acquire("a");
  const auto text = held.pass_on();
  EXPECT_TRUE(is_misuse([&] { static_cast<void>(theirs_.take_over(text, {.wait = 1s})); }));
  EXPECT_TRUE(
      is_misuse([&] { static_cast<void>(theirs_.take_over(text, {.expected = held.token()})); }));
  EXPECT_TRUE(is_misuse([&] { static_cast<void>(theirs_.take_over(text, {.ttl = 1s})); }));
  EXPECT_TRUE(is_misuse([&] { static_cast<void>(theirs_.within("eu").take_over(text)); }));
  EXPECT_TRUE(is_misuse([&] { static_cast<void>(theirs_.take_over("")); }));
  EXPECT_TRUE(theirs_.take_over(text).acquired()) << "a refused call used it up";
}

TEST_F(Takeover, WithinItsScopeIsMade) {
  const auto held = locks_->within("eu").try_acquire({"job", "a"});
  const auto text = held->pass_on();
  EXPECT_TRUE(theirs_.within("eu").take_over(text).acquired());
}

TEST_F(Takeover, WritesItsNoteHolderAndCorrelationId) {
  const auto taken = theirs_.take_over(
      acquire("a").pass_on(),
      {.ttl = 10s, .note = "second half", .holder = "worker", .correlation_id = "request 5"});
  ASSERT_TRUE(taken.acquired());
  EXPECT_EQ(taken->remaining(), 9s);
  const auto row = rows_.rows().read(std::vector{lock_key{"job", "a"}}).front().value();
  EXPECT_EQ(row.note, "second half");
  EXPECT_EQ(row.holder, "worker");
  EXPECT_EQ(row.correlation_id, "request 5");
}

TEST_F(Takeover, WhoseAnswerIsLostFindsItsGrant) {
  const auto text = acquire("a").pass_on();
  rows_.after("hand_over", [] { throw error{errc::outcome_unknown, "lost"}; });
  const auto taken = theirs_.take_over(text);
  ASSERT_TRUE(taken.acquired());
  EXPECT_EQ(rows_.batches("hand_over").size(), 1U);
  EXPECT_TRUE(taken->is_valid());
}

TEST_F(Takeover, WhoseCallIsLostIsSentOnceMore) {
  const auto text = acquire("a").pass_on();
  int calls = 0;
  rows_.before("hand_over", [&] {
    if (++calls == 1) throw error{errc::outcome_unknown, "lost"};
  });
  EXPECT_TRUE(theirs_.take_over(text).acquired());
  EXPECT_EQ(calls, 2);
}

TEST_F(Takeover, WhoseFaultLastsThrowsIt) {
  const auto text = acquire("a").pass_on();
  rows_.before("hand_over", [] { throw error{errc::unavailable, "away"}; });
  EXPECT_THROW(static_cast<void>(theirs_.take_over(text)), error);
  rows_.before("hand_over", {});
  EXPECT_TRUE(theirs_.take_over(text).acquired());
}

TEST_F(Takeover, OfARowThatATransactionHasIsBusyAfterAMoment) {
  const lease held = acquire("a");
  std::optional<memory_transaction> work{std::in_place, rows_.rows()};
  fence(*work, held);
  const auto text = held.pass_on();
  auto taken = std::async(std::launch::async, [&] { return theirs_.take_over(text); });
  await_answer(taken, [&] { time_->advance(5ms); });
  const auto refused = taken.get();
  ASSERT_FALSE(refused.acquired());
  EXPECT_EQ(refused.refusal().reason, refusal_reason::busy);
  work.reset();
  EXPECT_TRUE(theirs_.take_over(text).acquired());
}

TEST_F(Takeover, IsStillMadeAfterTheEndOfTheFirstLockTable) {
  const auto text = acquire("a").pass_on();
  locks_.reset();
  EXPECT_TRUE(theirs_.take_over(text).acquired());
}

class ObservedTakeover : public Observer {
 protected:
  void await_released(release_result expected) {
    await_that([&] {
      return std::ranges::any_of(observer_->events(), [&](const auto& each) {
        const auto* released = std::get_if<released_event>(&each);
        return released != nullptr && released->result == expected;
      });
    });
  }
};

TEST_F(ObservedTakeover, IsTheEndOfOneHoldAndTheBeginOfAnother) {
  lease held = acquire("a");
  const auto text = held.pass_on();
  held.release();
  await_released(release_result::passed_on);
  auto taken = locks_->take_over(text);
  ASSERT_TRUE(taken.acquired());
  taken->release();
  await_released(release_result::released);
  EXPECT_EQ(observer_->count<acquired_event>(), 2);
  EXPECT_EQ(observer_->count<released_event>(), 2);
  EXPECT_EQ(observer_->count<lost_event>(), 0);
  EXPECT_FALSE(locks_->take_over(text).acquired());
  EXPECT_EQ(observer_->await<refused_event>().refusal.reason, refusal_reason::stale);
}

}  // namespace
}  // namespace rowlock::tests
