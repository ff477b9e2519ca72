// Requests to yield, as the holder sees them.
#include <gtest/gtest.h>

#include <future>
#include <optional>
#include <string>
#include <utility>

#include "lease/lease_state_test.hpp"
#include "rowlock/leader.hpp"
#include "rowlock/operators.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {
namespace {

class LeaseAsk : public lease_state_test {
 protected:
  /// As another process does, whose requests are not announced.
  void ask_from_afar(const std::string& reason = "deploy") {
    ASSERT_EQ(ask(rows_.rows(), key_, reason, "ops"), ask_result::asked);
  }

  const lock_key key_{"job", "a"};
};

TEST_F(LeaseAsk, IsSeenWithTheNextRenewal) {
  const lease held = acquire("a");
  const auto wanted = held.wanted();
  rows_.await_answers("read", 1);
  ask_from_afar();
  EXPECT_FALSE(wanted.stop_requested());
  EXPECT_FALSE(held.asked());
  rows_.await_one_more(*time_, "renew", 1s);
  await(wanted);
  EXPECT_EQ(held.asked()->by, "ops");
  EXPECT_EQ(held.asked()->reason, "deploy");
  EXPECT_FALSE(held.asked()->at.empty());
  EXPECT_TRUE(held.is_valid());
  EXPECT_FALSE(held.lost().stop_requested());
}

TEST_F(LeaseAsk, IsSeenAtOnceWhereItIsAnnounced) {
  rows_.let_listen();
  const lease held = acquire("a");
  const auto wanted = held.wanted();
  rows_.await_answers("read", 1);
  EXPECT_EQ(locks_->ask(key_, "deploy"), ask_result::asked);
  await(wanted);
  EXPECT_TRUE(rows_.batches("renew").empty());
}

TEST_F(LeaseAsk, ThatCameBeforeTheHolderListensIsSeenToo) {
  const lease held = acquire("a");
  ask_from_afar();
  await(held.wanted());
  EXPECT_EQ(held.asked()->reason, "deploy");
}

TEST_F(LeaseAsk, MayBeMissedWhileNothingIsAnnounced) {
  rows_.let_listen();
  const lease held = acquire("a");
  const auto wanted = held.wanted();
  rows_.await_answers("read", 1);
  ask_from_afar();
  rows_.listener().listening();
  await(wanted);
}

TEST_F(LeaseAsk, CostsAHolderThatDoesNotListenNoRead) {
  const lease held = acquire("a");
  rows_.await_one_more(*time_, "renew", 1s);
  rows_.await_one_more(*time_, "renew", 1s);
  EXPECT_TRUE(rows_.batches("read").empty());
}

TEST_F(LeaseAsk, CostsNoReadAfterIt) {
  const lease held = acquire("a");
  ask_from_afar();
  await(held.wanted());
  rows_.await_one_more(*time_, "renew", 1s);
  rows_.await_one_more(*time_, "renew", 1s);
  EXPECT_EQ(rows_.batches("read").size(), 1U);
  EXPECT_TRUE(held.wanted().stop_requested());
}

TEST_F(LeaseAsk, AboutAnEarlierLeaseIsNotOfTheNext) {
  lease first = acquire("a");
  ask_from_afar();
  await(first.wanted());
  first.release();
  const lease next = acquire("a");
  const auto wanted = next.wanted();
  rows_.await_answers("read", 2);
  rows_.await_one_more(*time_, "read", 1s);
  EXPECT_FALSE(wanted.stop_requested());
  EXPECT_FALSE(next.asked());
}

TEST_F(LeaseAsk, OfTheHolderThatFollowsAfterALossIsNotOurs) {
  rows_.let_listen();
  const lease held = acquire("a");
  const auto wanted = held.wanted();
  rows_.await_answers("read", 1);
  force_release(rows_.rows(), key_, held.token(), "a test");
  lock_table theirs{rows_.rows(), {.ttl = 30s, .time = time_}};
  const auto next = theirs.try_acquire(key_);
  ask_from_afar();
  for (std::size_t reads = 2; reads <= 3; ++reads) {  // the second one follows what the first does
    rows_.listener().asked(key_);
    rows_.await_answers("read", reads);
  }
  EXPECT_FALSE(held.asked());
  EXPECT_FALSE(wanted.stop_requested());
}

TEST_F(LeaseAsk, AfterTheEndChangesNothing) {
  lease over = acquire("a");
  over.release();
  const auto wanted = over.wanted();
  EXPECT_EQ(locks_->ask(key_, "deploy"), ask_result::free);
  EXPECT_FALSE(wanted.stop_requested());
}

TEST_F(LeaseAsk, IsReadAgainAfterAFault) {
  const lease held = acquire("a");
  rows_.before("read", [] { throw error{errc::unavailable, "away"}; });
  const auto wanted = held.wanted();
  rows_.await("read", 1);
  ask_from_afar();
  rows_.before("read", [] {});
  rows_.await_moving(*time_, "read", 2, 1s);
  await(wanted);
}

TEST_F(LeaseAsk, ForAReasonThatIsNoneIsMisuse) {
  EXPECT_TRUE(is_misuse([&] { static_cast<void>(locks_->ask(key_, "")); }));
  EXPECT_TRUE(is_misuse([&] { static_cast<void>(locks_->ask(key_, std::string(1025, 'x'))); }));
  EXPECT_TRUE(is_misuse([&] { static_cast<void>(locks_->ask({"", "a"}, "deploy")); }));
}

TEST_F(LeaseAsk, OfAWaiterReachesTheHolderItMeets) {
  rows_.let_listen();
  lock_table theirs{rows_, {.ttl = 30s, .holder = "theirs", .time = time_}};
  std::optional<lease> held = acquire("a");
  const std::stop_callback yields{held->wanted(), [&] { held->release(); }};
  const auto taken = theirs.try_acquire(key_, {.wait = wait_forever(), .ask = true});
  ASSERT_TRUE(taken.acquired());
  EXPECT_EQ(held->asked()->by, "theirs");
  EXPECT_EQ(rows_.batches("ask").size(), 1U);
}

TEST_F(LeaseAsk, OfAWaiterForSeveralReachesTheirHolders) {
  rows_.let_listen();
  lock_table theirs{rows_, {.ttl = 30s, .holder = "theirs", .time = time_}};
  lease held = acquire("a");
  const std::stop_callback yields{held.wanted(), [&] { held.release(); }};
  const auto taken =
      theirs.try_acquire_all({key_, {"job", "b"}}, {.wait = wait_forever(), .ask = true});
  ASSERT_TRUE(taken.acquired());
  EXPECT_EQ(held.asked()->by, "theirs");
}

TEST_F(LeaseAsk, IsNotMadeByAWaiterThatDoesNotWantIt) {
  rows_.let_listen();
  lease held = acquire("a");
  const auto wanted = held.wanted();
  std::stop_source stop;
  rows_.after("watch", [&] { stop.request_stop(); });
  EXPECT_FALSE(
      locks_->try_acquire(key_, {.wait = wait_until_stopped(stop.get_token())}).acquired());
  EXPECT_TRUE(rows_.batches("ask").empty());
}

TEST_F(LeaseAsk, EndsATermAndTheNextBeginsTwoPausesLater) {
  rows_.let_listen();
  std::stop_source stop;
  gate leads;
  const auto campaign = std::async(std::launch::async, [&] {
    run_while_leader(*locks_, key_, stop.get_token(),
                     [&](const lease& term, const std::stop_token& over) {
                       leads.open();
                       await(over);
                       EXPECT_TRUE(term.is_valid());
                     });
  });
  leads.pass();
  EXPECT_EQ(locks_->ask(key_, "deploy"), ask_result::asked);
  rows_.await_answers("release", 1);
  time_->advance(1s);
  lock_table theirs{rows_, {.ttl = 30s, .time = time_}};
  EXPECT_TRUE(theirs.try_acquire(key_).acquired());
  const auto tries = rows_.batches("acquire").size();
  rows_.await_moving(*time_, "acquire", tries + 1, 100ms);
  stop.request_stop();
  campaign.wait();
}

}  // namespace
}  // namespace rowlock::tests
