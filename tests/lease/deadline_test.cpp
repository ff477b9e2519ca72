// Deadlines and doubt: from when a deadline counts, and what must not move it.
#include <gtest/gtest.h>

#include <array>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "lease/lease_registry.hpp"
#include "lease/observed_leases.hpp"
#include "lease/renewer.hpp"
#include "rowlock/error.hpp"
#include "rowlock/fence.hpp"
#include "rowlock/testing/memory_store.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {
namespace {

/// The ttl is 30 s, the margin 1 s, and the clock moves on by 5 s before the store answers. Steps
/// of the clock with which a test awaits something may come on top of that.
class Deadline : public lease_state_test {
 protected:
  using attempt = std::future<outcome<lease>>;

  void delay(const std::string& operation) {
    rows_.before(operation, [this] { time_->advance(5s); });
  }
  attempt waiter(const std::string& id) {
    return std::async(std::launch::async, [this, id] {
      return locks_->try_acquire({"job", id}, {.wait = wait_forever()});
    });
  }
  /// Returns once so many keys are waited for.
  void await_in_line(std::size_t keys) {
    await_that([&] {
      rows_.await_one_more(*time_, "watch");
      return rows_.batches("watch").back() == keys;
    });
  }
  static void expect_24_seconds_at_most(const lease& granted) {
    EXPECT_TRUE(granted.is_valid());
    EXPECT_LE(granted.remaining(), 24s);
  }

  lock_table theirs_{rows_.rows(), {.ttl = 1h, .holder = "theirs", .time = time_}};
};

TEST_F(Deadline, OfOneWhoWaitedCountsFromBeforeTheRequest) {
  auto in_the_way = *theirs_.try_acquire({"job", "a"});
  auto waiting = waiter("a");
  await_in_line(1);
  const auto attempts = rows_.batches("acquire").size();
  delay("acquire");
  in_the_way.release();
  rows_.await_moving(*time_, "acquire", attempts + 1);
  expect_24_seconds_at_most(*waiting.get());
}

TEST_F(Deadline, OfSeveralWhoWaitedCountsFromBeforeTheRequest) {
  auto in_the_way = *theirs_.try_acquire_all({{"job", "a"}, {"job", "b"}});
  auto one = waiter("a");
  auto other = waiter("b");
  await_in_line(2);
  const auto attempts = rows_.batches("acquire").size();
  delay("acquire");
  in_the_way.release();
  rows_.await_moving(*time_, "acquire", attempts + 1);
  expect_24_seconds_at_most(*one.get());
  expect_24_seconds_at_most(*other.get());
  EXPECT_EQ(rows_.batches("acquire").back(), 2) << "they were not requested together";
}

TEST_F(Deadline, OfAKeyThatIsHandedOverCountsFromBeforeTheRequest) {
  auto held = acquire("a");
  auto next = waiter("a");
  await_in_line(1);
  delay("hand_over");
  EXPECT_EQ(held.release(), release_result::released);
  EXPECT_EQ((*next.get()).remaining(), 24s);
}

TEST_F(Deadline, OfARenewalCountsFromBeforeTheRequest) {
  const lease held = acquire("a");
  const auto granted_until = held.valid_until();
  delay("renew");
  time_->advance(10s);
  await_that([&] { return held.valid_until() != granted_until; });
  EXPECT_EQ(held.remaining(), 24s);
}

TEST_F(Deadline, StaysWhereItIsWhenARenewalMeetsALockedRowAndTheLeaseIsLostThen) {
  const lease held = acquire("a");
  const auto granted_until = held.valid_until();
  memory_transaction work{rows_.rows()};
  fence(work, held);
  time_->advance(10s);
  rows_.await_moving(*time_, "renew", 2);  // so the first is over
  EXPECT_EQ(held.valid_until(), granted_until);
  time_->advance(granted_until - time_->now());
  await(held.lost());
  EXPECT_FALSE(held.is_valid());
}

TEST(DeadlineThatHasCome, IsNotMovedByARenewalEvenBeforeTheWatcherComes) {
  const auto time = std::make_shared<manual_time>();
  detail::lease_registry book{time, 1s, true};
  const detail::lease_request wanted{
      .request = {.key = {"job", "a"}, .owner = make_owner_id(), .holder = "", .ttl = 30s}};
  const auto held = std::make_shared<detail::lease_state>(wanted, version{1}, time->now());
  ASSERT_TRUE(book.add(held, time->now()));
  const auto deadline = held->valid_until.load();
  time->advance(29s);
  ASSERT_FALSE(book.renewed(*held, time->now(), 30s));
  EXPECT_EQ(held->valid_until.load(), deadline);
  EXPECT_EQ(book.wait_for_overdue().lost.size(), 1U);
}

// As after a pause of the whole process, when the thread of the renewals runs first.
TEST(DeadlineThatHasCome, EndsTheRenewalsEvenBeforeTheWatcherComes) {
  const auto time = std::make_shared<manual_time>();
  hooked_store rows{time};
  detail::lease_registry book{time, 1s, true};
  const auto add = [&](const std::string& id) {
    const detail::lease_request wanted{
        .request = {.key = {"job", id}, .owner = make_owner_id(), .holder = "", .ttl = 30s}};
    return book.add(std::make_shared<detail::lease_state>(wanted, version{1}, time->now()),
                    time->now());
  };
  ASSERT_TRUE(add("paused"));
  time->advance(19s);
  ASSERT_TRUE(add("fresh"));
  time->advance(10s);
  rows.before("renew", [&] { book.close(); });
  detail::statement_batcher batcher{rows};
  detail::serial_executor losses;
  detail::event_dispatcher events{nullptr};
  detail::deferred_releases none{batcher, book, events, time, {}};
  detail::renewer{rows, book, none, losses, events, time}.run();
  EXPECT_EQ(rows.batches("renew"), (std::vector<std::size_t>{1}));
}

TEST_F(Observer, IsToldOfAReleaseWithATransactionAndNotOfALoss) {
  const lease held = acquire("a");
  {
    memory_transaction work{rows_.rows()};
    release_with(work, held, {});
    work.commit();
  }
  time_->advance(10s);
  EXPECT_EQ(observer_->await<released_event>().result, release_result::released);
  EXPECT_FALSE(held.is_valid());
  locks_.reset();  // all events are delivered
  EXPECT_FALSE(held.lost().stop_requested());
  EXPECT_EQ(observer_->count<lost_event>(), 0);
}

TEST_F(Observer, IsToldOfALossThatAFenceFinds) {
  const lease held = acquire("a");
  ASSERT_EQ(rows_.rows().force_release({key_, held.token(), "a test"}), force_answer::released);
  memory_transaction work{rows_.rows()};
  EXPECT_THROW(fence(work, held), lease_lost);
  EXPECT_FALSE(held.is_valid());
  EXPECT_EQ(observer_->await<lost_event>().reason, loss_reason::taken_away);
  await(held.lost());
}

using Doubt = lease_state_test;

TEST_F(Doubt, AboutAnAcquisitionStaysWhenTheNextAnswerIsThatTheRowIsBusy) {
  memory_transaction in_the_way{rows_.rows()};
  ASSERT_TRUE(lock_rows(in_the_way, lock_key{"job", "a"}, no_wait()).acquired());
  rows_.before("acquire", [this] {
    if (rows_.batches("acquire").size() == 1) {
      throw error{errc::outcome_unknown, "the connection broke"};
    }
  });
  try {
    (void)locks_->try_acquire({"job", "a"});
    FAIL() << "nothing was thrown";
  } catch (const error& fault) {
    EXPECT_EQ(fault.kind(), errc::outcome_unknown);
  }
  EXPECT_EQ(rows_.batches("acquire").size(), 2U);
}

TEST_F(Doubt, AboutOneOfSeveralStaysWhenTheNextAnswerIsThatTheRowIsBusy) {
  const lock_keys both{{"job", "a"}, {"job", "b"}};
  lock_table theirs{rows_.rows(), {.ttl = 1h, .time = time_}};
  std::vector<lease> held;
  std::vector<std::future<outcome<lease>>> waiting;
  for (const auto& key : both.in_order()) {
    held.push_back(*theirs.try_acquire(key));
    waiting.push_back(std::async(std::launch::async, [this, key] {
      return locks_->try_acquire(
          key, {.wait = retry_policy{.give_up_after = 5min, .through_outages = false}});
    }));
  }
  await_that([&] {
    rows_.await_one_more(*time_, "watch");
    return rows_.batches("watch").back() >= 2;
  });
  std::optional<memory_transaction> in_the_way;
  rows_.before("acquire", [&] {
    if (rows_.batches("acquire").back() < 2) return;
    in_the_way.emplace(rows_.rows());
    ASSERT_TRUE(lock_rows(*in_the_way, both, no_wait()).acquired());
    throw error{errc::outcome_unknown, "the connection broke"};
  });
  held.clear();
  for (auto& each : waiting) {
    await_answer(each, [&] { time_->advance(20ms); });
    try {
      (void)each.get();
      FAIL() << "nothing was thrown";
    } catch (const error& fault) {
      EXPECT_EQ(fault.kind(), errc::outcome_unknown);
    }
  }
}

using HalvedRenewal = lease_state_test;

TEST_F(HalvedRenewal, LeavesOutLeasesThatEndedMeanwhile) {
  const lease held = acquire("a");
  auto ended = std::optional{acquire("b")};
  rows_.before("renew", [&] {
    if (!ended) return;
    ended->release();
    ended.reset();
    throw error{errc::rejected, "one of them cannot be renewed"};
  });
  const auto granted_until = held.valid_until();
  time_->advance(10s);
  await_that([&] { return held.valid_until() != granted_until; });
  locks_.reset();
  EXPECT_EQ(rows_.batches("renew"), (std::vector<std::size_t>{2, 1}));
}

}  // namespace
}  // namespace rowlock::tests
