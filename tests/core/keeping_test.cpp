// What a lock_table does for its leases in the background.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "core/hooked_store.hpp"
#include "rowlock/error.hpp"
#include "rowlock/lock_table.hpp"

namespace rowlock::tests {
namespace {

using namespace std::chrono_literals;

class Keeping : public testing::Test {
 protected:
  lease acquire(const std::string& id, std::optional<std::chrono::milliseconds> ttl = {}) {
    return *locks_->try_acquire({"job", id}, {.ttl = ttl});
  }
  bool is_free(const std::string& id) {
    const auto state = rows_.rows().read(std::vector{lock_key{"job", id}}).front();
    return !state || !state->owned;
  }
  static void await(const std::stop_token& stop) {
    gate stopped;
    const std::stop_callback open{stop, [&] { stopped.open(); }};
    stopped.pass();
  }

  std::shared_ptr<manual_time> time_ = std::make_shared<manual_time>();
  hooked_store rows_{time_};
  std::optional<lock_table> locks_{std::in_place, rows_,
                                   lock_options{.ttl = 30s, .margin = 1s, .time = time_}};
};

TEST_F(Keeping, ALeaseIsRenewedAtAThirdOfItsTtlAndSoOutlivesIt) {
  const lease held = acquire("a");
  const auto granted_until = held.valid_until();
  for (std::size_t renewals = 1; renewals <= 6; ++renewals) {
    time_->advance(10s);
    rows_.await("renew", renewals);
    while (held.valid_until() < time_->now() + 29s) std::this_thread::yield();
  }
  EXPECT_TRUE(held.is_valid());
  EXPECT_EQ(held.valid_until(), granted_until + 60s);
  EXPECT_FALSE(is_free("a"));
}

TEST_F(Keeping, ARenewalMovesNoVersion) {
  const lease held = acquire("a");
  time_->advance(10s);
  rows_.await("renew", 1);
  EXPECT_EQ(rows_.rows().list().front().version, held.token());
}

TEST_F(Keeping, LeasesDueTogetherShareOneStatement) {
  std::vector<lease> held;
  for (int i = 0; i < 50; ++i) held.push_back(acquire(std::to_string(i)));
  time_->advance(10s);
  rows_.await("renew", 1);
  EXPECT_EQ(rows_.batches("renew"), std::vector<std::size_t>{50});
}

TEST_F(Keeping, EachLeaseIsDueAtAThirdOfItsOwnTtl) {
  const lease slow = acquire("slow");
  const lease fast = acquire("fast", 3s);
  time_->advance(1s);
  rows_.await("renew", 1);
  EXPECT_EQ(rows_.batches("renew"), std::vector<std::size_t>{1});
  while (fast.valid_until() < time_->now() + 2s) std::this_thread::yield();
  EXPECT_EQ(slow.remaining(), 28s);
}

TEST_F(Keeping, WithoutRenewalALeaseEndsAtItsDeadline) {
  lock_table locks{rows_, {.ttl = 30s, .margin = 1s, .renew = false, .time = time_}};
  const lease held = *locks.try_acquire({"job", "a"});
  EXPECT_EQ(held.remaining(), 29s);
  time_->advance(28s);
  EXPECT_TRUE(held.is_valid());
  time_->advance(1s);
  EXPECT_FALSE(held.is_valid());
  await(held.lost());
  EXPECT_TRUE(rows_.batches("renew").empty());
}

TEST_F(Keeping, TheDeadlineCountsFromBeforeTheQuestion) {
  rows_.before("acquire", [this] { time_->advance(5s); });
  EXPECT_EQ(acquire("a").remaining(), 24s);
}

TEST_F(Keeping, AGrantThatComesAfterItsDeadlineIsGivenBackAndNotHandedOut) {
  rows_.after("acquire", [this] { time_->advance(29s); });
  const auto acquired = locks_->try_acquire({"job", "a"});
  ASSERT_FALSE(acquired.acquired());
  EXPECT_EQ(acquired.refusal().reason, refusal_reason::timed_out);
  time_->advance(100ms);
  rows_.await("release", 1);
}

TEST_F(Keeping, LossIsToldAtTheDeadlineWhileARenewalHangs) {
  const auto database = std::make_shared<gate>();
  rows_.before("renew", [database] { database->pass(); });
  const lease held = acquire("a");
  time_->advance(10s);
  rows_.await("renew", 1);
  time_->advance(19s);
  EXPECT_FALSE(held.is_valid());
  await(held.lost());
  database->open();
}

TEST_F(Keeping, ARenewalThatIsAnsweredAfterTheDeadlineChangesNothing) {
  const auto database = std::make_shared<gate>();
  rows_.after("renew", [database] { database->pass(); });
  const lease held = acquire("a");
  time_->advance(10s);
  rows_.await("renew", 1);
  time_->advance(19s);
  await(held.lost());
  database->open();
  locks_.reset();
  EXPECT_FALSE(held.is_valid());
  EXPECT_EQ(held.remaining(), 0s);
}

TEST_F(Keeping, OneFailedRenewalDoesNotEndRenewal) {
  rows_.before("renew", [this] {
    if (rows_.batches("renew").size() == 1) throw error{errc::unavailable, "the network is down"};
  });
  const lease held = acquire("a");
  time_->advance(10s);
  rows_.await("renew", 1);
  rows_.await_moving(*time_, "renew", 2);
  while (held.remaining() < 25s) std::this_thread::yield();
  EXPECT_TRUE(held.is_valid());
}

TEST_F(Keeping, ALeaseThatIsTakenOverIsLostAtItsNextRenewal) {
  // A database clock of its own, so that the row runs out long before the holder's deadline.
  const auto database_time = std::make_shared<manual_time>();
  hooked_store rows{database_time};
  lock_table locks{rows, {.ttl = 30s, .margin = 1s, .time = time_}};
  const lease held = *locks.try_acquire({"job", "a"});
  database_time->advance(31s);
  lock_table rivals{rows, {.ttl = 30s, .renew = false, .time = time_}};
  const lease taken = *rivals.try_acquire({"job", "a"});
  EXPECT_GT(taken.token(), held.token());

  time_->advance(10s);
  await(held.lost());
  EXPECT_FALSE(held.is_valid());
  EXPECT_TRUE(taken.is_valid());
}

TEST_F(Keeping, ALostLeaseStaysLostAndIsNeitherRenewedNorReleased) {
  rows_.before("renew", [] { throw error{errc::unavailable, "the network is down"}; });
  lease held = acquire("a");
  time_->advance(29s);
  await(held.lost());
  const auto renewals = rows_.batches("renew").size();
  rows_.before("renew", {});
  time_->advance(10s);
  EXPECT_EQ(held.release(), release_result::lost);
  locks_.reset();
  EXPECT_LE(rows_.batches("renew").size(), renewals + 1);  // one may have been under way
  EXPECT_TRUE(rows_.batches("release").empty());
  EXPECT_FALSE(held.is_valid());
}

TEST_F(Keeping, AReleasedLeaseIsNeverRenewed) {
  lease held = acquire("a");
  EXPECT_EQ(held.release(), release_result::released);
  EXPECT_EQ(held.release(), release_result::lost);
  time_->advance(10s);
  locks_.reset();
  EXPECT_TRUE(rows_.batches("renew").empty());
  EXPECT_EQ(rows_.batches("release").size(), 1U);
}

TEST_F(Keeping, AReleaseThatFailsIsMadeLaterInTheBackground) {
  rows_.before("release", [this] {
    if (rows_.batches("release").size() < 3) throw error{errc::unavailable, "the network is down"};
  });
  lease held = acquire("a");
  EXPECT_EQ(held.release(), release_result::deferred);
  EXPECT_FALSE(held.is_valid());
  rows_.await_moving(*time_, "release", 3);
  while (!is_free("a")) std::this_thread::yield();
}

TEST_F(Keeping, ACallbackOfALossMayReleaseAndDestroy) {
  std::optional<lease> held = acquire("a");
  gate done;
  const std::stop_callback on_loss{held->lost(), [&] {
                                     EXPECT_EQ(held->release(), release_result::lost);
                                     held.reset();
                                     locks_.reset();
                                     done.open();
                                   }};
  rows_.before("renew", [] { throw error{errc::unavailable, "the network is down"}; });
  time_->advance(29s);
  done.pass();
}

TEST_F(Keeping, ASlowCallbackDelaysNoOtherLease) {
  gate callback;
  gate called;
  const lease slow = acquire("slow");
  const lease other = acquire("other", 40s);
  const std::stop_callback on_loss{slow.lost(), [&] {
                                     called.open();
                                     callback.pass();
                                   }};
  rows_.before("renew", [] { throw error{errc::unavailable, "the network is down"}; });
  time_->advance(29s);
  called.pass();
  EXPECT_TRUE(other.is_valid());
  time_->advance(10s);
  EXPECT_FALSE(other.is_valid());
  callback.open();
  await(other.lost());
}

TEST_F(Keeping, DestroyingTheLockTableUnsetsTheRowsAndTheLeasesAreLost) {
  const lease held = acquire("a");
  locks_.reset();
  EXPECT_TRUE(is_free("a"));
  EXPECT_FALSE(held.is_valid());
  EXPECT_TRUE(held.lost().stop_requested());
}

TEST_F(Keeping, DestroyingTheLockTableStopsThoseWhoWait) {
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

TEST_F(Keeping, AnAnswerThatGotLostIsAskedForAgainAsTheSameAttempt) {
  rows_.after("acquire", [this] {
    if (rows_.batches("acquire").size() == 1)
      throw error{errc::outcome_unknown, "the connection broke"};
  });
  const lease held = acquire("a");
  EXPECT_TRUE(held.is_valid());
  EXPECT_EQ(rows_.rows().list().front().version, held.token());
  EXPECT_EQ(rows_.rows().list().front().expiry_count, 0);
}

TEST_F(Keeping, ADoubtThatCannotBeResolvedStaysADoubt) {
  rows_.after("acquire", [] { throw error{errc::outcome_unknown, "the connection broke"}; });
  rows_.before("acquire", [this] {
    if (rows_.batches("acquire").size() == 2) throw error{errc::unavailable, "nobody answers"};
  });
  try {
    (void)locks_->try_acquire({"job", "a"});
    FAIL() << "nothing was thrown";
  } catch (const error& fault) {
    EXPECT_EQ(fault.kind(), errc::outcome_unknown);
  }
}

TEST_F(Keeping, AFaultOfTheDatabaseIsThrownAndNeverAnswersHeld) {
  rows_.before("acquire", [] { throw error{errc::unavailable, "the server is down"}; });
  try {
    (void)locks_->try_acquire({"job", "a"}, {.wait = wait_for(1h)});
    FAIL() << "nothing was thrown";
  } catch (const error& fault) {
    EXPECT_EQ(fault.kind(), errc::unavailable);
  }
}

TEST_F(Keeping, AWaiterLooksAgainWhenTheHoldersLeaseHasRunOut) {
  lock_table holders{rows_, {.ttl = 5s, .renew = false, .time = time_}};
  const lease held = *holders.try_acquire({"job", "a"});
  std::optional<outcome<lease>> acquired;
  std::thread waiter{[&] {
    retry_policy wait = wait_forever();
    wait.first_pause = wait.longest_pause = 1h;
    acquired.emplace(locks_->try_acquire({"job", "a"}, {.wait = wait}));
  }};
  rows_.await("acquire", 2);
  rows_.await_moving(*time_, "acquire", 3);
  waiter.join();
  EXPECT_TRUE((*acquired)->is_valid());
}

TEST_F(Keeping, WhatCannotBeMeantIsMisuse) {
  const auto misuse = [](const auto& call) {
    try {
      call();
    } catch (const error& fault) {
      return fault.kind() == errc::misuse;
    }
    return false;
  };
  EXPECT_TRUE(misuse([&] { lock_table locks(rows_, {.ttl = 0s}); }));
  EXPECT_TRUE(misuse([&] { lock_table locks(rows_, {.ttl = -1s}); }));
  EXPECT_TRUE(misuse([&] { lock_table locks(rows_, {.ttl = 24h + 1ms}); }));
  EXPECT_TRUE(misuse([&] { lock_table locks(rows_, {.ttl = 1s, .margin = 1s}); }));
  EXPECT_TRUE(misuse([&] { lock_table locks(rows_, {.margin = -1ms}); }));
  EXPECT_TRUE(misuse([&] { lock_table locks(rows_, {.holder = std::string(129, 'x')}); }));
  EXPECT_TRUE(misuse([&] { lock_table locks(rows_, {.holder = "\xff"}); }));
  EXPECT_TRUE(misuse([&] { lock_table locks(rows_, {.time = nullptr}); }));
  EXPECT_TRUE(misuse([&] { acquire("a", 1s); }));
  EXPECT_TRUE(misuse([&] { acquire("a", 25h); }));
  EXPECT_TRUE(misuse([&] { acquire(""); }));
  EXPECT_TRUE(rows_.batches("acquire").empty());
}

}  // namespace
}  // namespace rowlock::tests
