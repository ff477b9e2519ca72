// Work that is done once.
#include <gtest/gtest.h>

#include <array>
#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

#include "lease/lease_state_test.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {
namespace {

class Once : public lease_state_test {
 protected:
  row_state row() { return rows_.rows().read(std::array{key_}).front().value(); }

  /// A caller that waits for the key with `once`, or else with a plain lock.
  std::future<outcome<void>> waiter(bool once) {
    return std::async(std::launch::async, [this, once] {
      const acquire_options waiting{.wait = wait_forever()};
      if (once) return locks_->with_lock_once(key_, [] {}, {.acquire = waiting});
      return locks_->with_lock(
          key_, [] {}, waiting);
    });
  }
  /// Until the first of them stands in line, and reads the row.
  void await_waiting() { rows_.await_moving(*time_, "watch", 1); }

  /// Its answer, without the clock moving on.
  outcome<void> caught(std::future<outcome<void>>& waiting) {
    if (waiting.wait_for(patience) != std::future_status::ready) {
      ADD_FAILURE() << "was not answered";
      locks_.reset();
    }
    return waiting.get();
  }

  const lock_key key_{"job", "a"};
};

TEST_F(Once, IsDoneAndThenRefusedWithWhoDidItAndWhen) {
  version by;
  const auto first = locks_->with_lock_once(key_, [&](const lease& held) {
    by = held.token();
    return 7;
  });
  EXPECT_EQ(*first, 7);
  EXPECT_TRUE(first.kept());
  time_->advance(1h);
  bool has_run = false;
  const auto second = locks_->with_lock_once(key_, [&] { has_run = true; });
  ASSERT_FALSE(second.acquired());
  EXPECT_FALSE(has_run);
  EXPECT_EQ(second.refusal().reason, refusal_reason::already_done);
  EXPECT_EQ(second.refusal().key, key_);
  ASSERT_TRUE(second.refusal().done);
  EXPECT_EQ(second.refusal().done->by, by);
  EXPECT_EQ(second.refusal().done->at, row().done->at);
  EXPECT_EQ(second.refusal().done->remaining, 23h);
}

TEST_F(Once, IsRememberedForAsLongAsWasSaid) {
  ASSERT_TRUE(locks_->with_lock_once(key_, [] {}, {.keep_for = 1min}).kept());
  time_->advance(1min - 1ms);
  EXPECT_FALSE(locks_->with_lock_once(key_, [] {}).acquired());
  time_->advance(1ms);
  EXPECT_TRUE(locks_->with_lock_once(key_, [] {}).acquired());
}

TEST_F(Once, IsHeldWhileItIsBeingDone) {
  const auto outer = locks_->with_lock_once(
      key_, [&] { return locks_->with_lock_once(key_, [] {}).refusal().reason; });
  EXPECT_EQ(*outer, refusal_reason::held);
}

TEST_F(Once, ThatThrewIsNotDone) {
  EXPECT_THROW((void)locks_->with_lock_once(key_, [] { throw std::runtime_error{"no paper"}; }),
               std::runtime_error);
  EXPECT_FALSE(row().done);
  EXPECT_EQ(row().failure_count, 1);
  EXPECT_TRUE(locks_->with_lock_once(key_, [] {}).acquired());
}

TEST_F(Once, WhoseLeaseWasLostBeforeItsEndIsNotDone) {
  rows_.before("renew", [] { throw error{errc::unavailable, "the network is down"}; });
  const auto late = locks_->with_lock_once(key_, [&] { time_->advance(29s); });
  EXPECT_TRUE(late.acquired());
  EXPECT_FALSE(late.kept());
  EXPECT_FALSE(row().done);
}

TEST_F(Once, WhoseEndTheDatabaseMissedIsDoneWhenItHearsOfIt) {
  rows_.before("release", [this] {
    if (rows_.batches("release").size() < 3) throw error{errc::unavailable, "the network is down"};
  });
  const auto missed = locks_->with_lock_once(key_, [] {});
  EXPECT_TRUE(missed.acquired());
  EXPECT_FALSE(missed.kept());
  rows_.await_moving(*time_, "release", 3);
  await_that([&] { return row().done; });
}

TEST_F(Once, ToBeKeptForNoTimeOrForTooLongIsMisuseAndNotRun) {
  using ms = std::chrono::milliseconds;
  for (const ms keep_for : {ms{0}, ms{-1}, ms{24h * 3653} + 1ms, ms::max(), ms::min()}) {
    bool has_run = false;
    EXPECT_TRUE(is_misuse([&] {
      (void)locks_->with_lock_once(key_, [&] { has_run = true; }, {.keep_for = keep_for});
    })) << keep_for.count();
    EXPECT_FALSE(has_run);
  }
  EXPECT_TRUE(locks_->with_lock_once(key_, [] {}, {.keep_for = 24h * 3653}).kept());
}

// The clock stands still: no waiter is answered by a later read.
TEST_F(Once, IsToldToAllWhoWaitAtItsEnd) {
  rows_.let_listen();
  std::vector<std::future<outcome<void>>> waiters;
  ASSERT_TRUE(locks_
                  ->with_lock_once(key_,
                                   [&] {
                                     waiters.push_back(waiter(true));
                                     await_waiting();
                                     waiters.push_back(waiter(true));
                                     waiters.push_back(waiter(true));
                                   })
                  .kept());
  for (auto& each : waiters) {
    const auto end = caught(each);
    ASSERT_FALSE(end.acquired());
    EXPECT_EQ(end.refusal().reason, refusal_reason::already_done);
    EXPECT_TRUE(end.refusal().done);
  }
}

TEST_F(Once, ThatIsDoneMakesNoDifferenceToOthersWhoWait) {
  rows_.let_listen();
  std::future<outcome<void>> once;
  std::future<outcome<void>> plain;
  ASSERT_TRUE(locks_
                  ->with_lock_once(key_,
                                   [&] {
                                     once = waiter(true);
                                     await_waiting();
                                     plain = waiter(false);
                                   })
                  .kept());
  EXPECT_EQ(once.get().refusal().reason, refusal_reason::already_done);
  EXPECT_TRUE(plain.get().acquired());
}

TEST_F(Once, IsToldToOneWhoWaitsWhileSomebodyElseHoldsTheKey) {
  const auto end = [&] {
    const lease held = acquire("a");
    auto waiting = waiter(true);
    await_waiting();
    // Done by another process, which then holds the key again.
    auto& rows = rows_.rows();
    const auto current = row();
    rows.force_release({.key = key_, .version = current.version, .reason = "a test"});
    const acquire_request again{.key = key_, .owner = make_owner_id(), .holder = "h", .ttl = 1h};
    const auto by = rows.acquire(std::array{again}).front().version.value();
    rows.release(std::array{
        release_request{.key = key_, .owner = again.owner, .version = by, .done_for = 1h}});
    rows.acquire(std::array{again});
    await_answer(waiting, [this] { time_->advance(20ms); });
    return waiting.get();
  }();
  EXPECT_EQ(end.refusal().reason, refusal_reason::already_done);
}

}  // namespace
}  // namespace rowlock::tests
