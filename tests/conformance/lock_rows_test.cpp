// Pessimistic locks in the application's own transaction.
#include <future>
#include <latch>
#include <stop_token>
#include <vector>

#include "conformance/locked_rows.hpp"
#include "conformance/store_test.hpp"
#include "rowlock/boot_clock.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {
namespace {

class LockRows : public store_test {
 protected:
  const std::shared_ptr<store> rivals_ = bench_->open(20ms);
};
class LockRowsAmongOthers : public LockRows {};

TEST_P(LockRows, MovesTheVersionInTheTransaction) {
  const auto before = unowned(key_);
  open_transaction locking{*bench_};
  const auto locked = locking->lock_rows(key_, no_wait());
  ASSERT_TRUE(locked.acquired());
  ASSERT_EQ(locked->rows.size(), 1U);
  EXPECT_EQ(locked->rows[0].key, key_);
  EXPECT_GT(locked->rows[0].version, before);
  EXPECT_EQ(row(key_).version, before);
  locking.commit();
  EXPECT_EQ(row(key_).version, locked->rows[0].version);
  EXPECT_FALSE(row(key_).owned);
  EXPECT_EQ(row(key_).expiry_count, 0);
}

TEST_P(LockRows, RolledBackLeavesTheRowAsItWas) {
  run_out(key_, theirs_);
  const auto before = described(row(key_));
  locked_rows{*bench_, key_}.roll_back();
  EXPECT_EQ(described(row(key_)), before);
}

TEST_P(LockRows, AnswersWithTheRowsInTheOrderOfBytesEachOnce) {
  const lock_key upper{"invoice", "B"};
  const lock_key lower{"invoice", "a"};
  const lock_key first{"Invoice", "z"};
  unowned(lower);
  open_transaction locking{*bench_};
  const auto locked = locking->lock_rows({lower, upper, first, lower}, no_wait());
  ASSERT_TRUE(locked.acquired());
  ASSERT_EQ(locked->rows.size(), 3U);
  locking.commit();
  EXPECT_EQ(locked->rows[0].key, first);
  EXPECT_EQ(locked->rows[1].key, upper);
  EXPECT_EQ(locked->rows[2].key, lower);
  for (const auto& each : locked->rows) EXPECT_EQ(each.version, row(each.key).version);
}

TEST_P(LockRows, CreatesAMissingRowInTheTransaction) {
  locked_rows locked{*bench_, {key_, other_key_}};
  EXPECT_FALSE(read(key_));
  EXPECT_GT(locked.version().number, 0);
  locked.commit();
  EXPECT_EQ(row(key_).version, locked.version());
  EXPECT_FALSE(row(key_).owned);
  EXPECT_FALSE(row(other_key_).owned);
}

TEST_P(LockRows, EndsALeaseThatRanOutAndCountsIt) {
  const auto their_version = run_out(key_, theirs_);
  locked_rows locked{*bench_, key_};
  locked.commit();
  EXPECT_GT(locked.version(), their_version);
  EXPECT_FALSE(row(key_).owned);
  EXPECT_EQ(row(key_).holder, "");
  EXPECT_EQ(row(key_).expiry_count, 1);
  EXPECT_EQ(renew(key_, theirs_, their_version), renew_answer::lost);
}

TEST_P(LockRows, IsRefusedAsHeldWhileALeaseIsLive) {
  const auto their_version = granted(key_, theirs_);
  open_transaction locking{*bench_};
  const auto locked = locking->lock_rows(key_, no_wait());
  ASSERT_FALSE(locked.acquired());
  EXPECT_EQ(locked.refusal().reason, refusal_reason::held);
  EXPECT_EQ(locked.refusal().key, key_);
  EXPECT_EQ(locked.refusal().holder, "host:1");
  EXPECT_GT(locked.refusal().remaining, 30min);
  EXPECT_LE(locked.refusal().remaining, 1h);
  EXPECT_EQ(locked.refusal().current, their_version);
}

TEST_P(LockRows, RefusedLeavesTheTransactionUsable) {
  granted(key_, theirs_);
  open_transaction locking{*bench_};
  locking->write_note("before");
  ASSERT_FALSE(locking->lock_rows(key_, no_wait()).acquired());
  locking->write_note("after");
  EXPECT_TRUE(locking->lock_rows(other_key_, no_wait()).acquired());
  locking.commit();
  EXPECT_EQ(bench_->connect()->notes(), (std::vector<std::string>{"before", "after"}));
  EXPECT_FALSE(row(other_key_).owned);
}

TEST_P(LockRows, OfSeveralLocksAllOrNone) {
  const lock_key missing{"invoice", "44"};
  const auto free_version = unowned(key_);
  const auto run_out_version = run_out({"invoice", "45"}, mine_);
  granted(other_key_, theirs_);
  open_transaction locking{*bench_};
  const auto locked = locking->lock_rows({key_, other_key_, missing, {"invoice", "45"}}, no_wait());
  ASSERT_FALSE(locked.acquired());
  EXPECT_EQ(locked.refusal().reason, refusal_reason::held);
  EXPECT_EQ(locked.refusal().key, other_key_);
  locking.commit();
  EXPECT_EQ(row(key_).version, free_version);
  EXPECT_FALSE(read(missing));
  EXPECT_EQ(row({"invoice", "45"}).version, run_out_version);
  EXPECT_EQ(row({"invoice", "45"}).expiry_count, 0);
}

TEST_P(LockRows, AgainInTheSameTransactionIsGrantedToo) {
  open_transaction locking{*bench_};
  const auto once = locking->lock_rows(key_, no_wait());
  const auto twice = locking->lock_rows({key_, other_key_}, no_wait());
  ASSERT_TRUE(once.acquired());
  ASSERT_TRUE(twice.acquired());
  EXPECT_GE(twice->rows.at(0).version, once->rows.at(0).version);
  locking.commit();
  EXPECT_EQ(row(key_).version, twice->rows.at(0).version);
}

TEST_P(LockRows, KeepsTheRowUntilTheTransactionEndsEitherWay) {
  for (const bool is_committed : {true, false}) {
    locked_rows locked{*bench_, key_};
    EXPECT_EQ(acquire(*rivals_, key_, mine_).status, acquire_status::busy);
    is_committed ? locked.commit() : locked.roll_back();
    const auto mine = acquire(*rivals_, key_, mine_);
    ASSERT_EQ(mine.status, acquire_status::granted);
    ASSERT_EQ(release(key_, mine_, mine.version.value()), release_answer::released);
  }
}

TEST_P(LockRowsAmongOthers, IsRefusedAsBusyAndUsableWhileAnotherTransactionHasTheRow) {
  const auto before = unowned(key_);
  locked_rows rival{*bench_, key_};
  open_transaction locking{*bench_};
  locking->write_note("before");
  const auto locked = locking->lock_rows({key_, other_key_}, no_wait());
  ASSERT_FALSE(locked.acquired());
  EXPECT_EQ(locked.refusal().reason, refusal_reason::busy);
  EXPECT_EQ(locked.refusal().key, key_);
  locking->write_note("after");
  rival.roll_back();
  const auto again = locking->lock_rows(key_, no_wait());
  ASSERT_TRUE(again.acquired());
  EXPECT_GT(again->rows[0].version, before);
  locking.commit();
  EXPECT_EQ(bench_->connect()->notes(), (std::vector<std::string>{"before", "after"}));
}

TEST_P(LockRowsAmongOthers, IsRefusedAsBusyWhileAnotherTransactionInsertsTheRow) {
  locked_rows rival{*bench_, key_};
  open_transaction locking{*bench_};
  const auto locked = locking->lock_rows(key_, no_wait());
  ASSERT_FALSE(locked.acquired());
  EXPECT_EQ(locked.refusal().reason, refusal_reason::busy);
  rival.commit();
  EXPECT_TRUE(locking->lock_rows(key_, no_wait()).acquired());
}

// Or the lease's holder could not renew before this transaction ends.
TEST_P(LockRowsAmongOthers, RefusedKeepsNoneOfTheRows) {
  const auto their_version = granted(other_key_, theirs_);
  unowned(key_);
  open_transaction locking{*bench_};
  ASSERT_FALSE(locking->lock_rows({key_, other_key_, {"invoice", "44"}}, no_wait()).acquired());
  EXPECT_EQ(renew(*rivals_, other_key_, theirs_, their_version), renew_answer::renewed);
  EXPECT_EQ(release(*rivals_, other_key_, theirs_, their_version), release_answer::released);
  EXPECT_EQ(acquire(*rivals_, key_, mine_).status, acquire_status::granted);
  EXPECT_EQ(acquire(*rivals_, {"invoice", "44"}, mine_).status, acquire_status::granted);
}

TEST_P(LockRowsAmongOthers, OfOtherRowsIsNotInTheWay) {
  const locked_rows rival{*bench_, key_};
  open_transaction locking{*bench_};
  EXPECT_TRUE(locking->lock_rows({other_key_, {"order", "42"}}, no_wait()).acquired());
}

TEST_P(LockRowsAmongOthers, WaitsForATransactionAsLongAsItWasTold) {
  unowned(key_);
  const locked_rows rival{*bench_, key_};
  open_transaction locking{*bench_};
  const auto begun = boot_clock::now();
  const auto locked = locking->lock_rows(key_, wait_for(150ms));
  EXPECT_GE(boot_clock::now() - begun, 150ms);
  ASSERT_FALSE(locked.acquired());
  EXPECT_EQ(locked.refusal().reason, refusal_reason::timed_out);
  locking->write_note("still usable");
  locking.commit();
  EXPECT_EQ(bench_->connect()->notes(), std::vector<std::string>{"still usable"});
}

TEST_P(LockRowsAmongOthers, WaitsForALeaseAsLongAsItWasTold) {
  granted(key_, theirs_);
  open_transaction locking{*bench_};
  const auto begun = boot_clock::now();
  const auto locked = locking->lock_rows(key_, wait_for(60ms));
  EXPECT_GE(boot_clock::now() - begun, 60ms);
  ASSERT_FALSE(locked.acquired());
  EXPECT_EQ(locked.refusal().reason, refusal_reason::timed_out);
  EXPECT_EQ(locked.refusal().holder, "host:1");
}

TEST_P(LockRowsAmongOthers, IsGrantedWhenTheTransactionInTheWayEndsEitherWay) {
  unowned(key_);
  for (const auto& wait : {wait_for(patience), wait_forever()}) {
    for (const bool is_committed : {true, false}) {
      locked_rows rival{*bench_, key_};
      std::latch begun{1};
      auto waiting = std::async(std::launch::async, [&] {
        open_transaction locking{*bench_};
        begun.count_down();
        const auto locked = locking->lock_rows(key_, wait);
        locking.commit();
        return locked->rows.at(0).version;
      });
      begun.wait();
      is_committed ? rival.commit() : rival.roll_back();
      const auto granted_version = waiting.get();
      EXPECT_EQ(granted_version, row(key_).version);
    }
  }
}

TEST_P(LockRowsAmongOthers, IsGrantedWhenTheLeaseInTheWayIsReleased) {
  const auto their_version = granted(key_, theirs_);
  std::latch begun{1};
  auto waiting = std::async(std::launch::async, [&] {
    open_transaction locking{*bench_};
    begun.count_down();
    return locking->lock_rows(key_, wait_forever()).acquired();
  });
  begun.wait();
  EXPECT_EQ(release(key_, theirs_, their_version), release_answer::released);
  EXPECT_TRUE(waiting.get());
}

TEST_P(LockRowsAmongOthers, StopsWaitingWhenAStopIsRequested) {
  unowned(key_);
  const locked_rows rival{*bench_, key_};
  std::stop_source stop;
  std::latch begun{1};
  auto waiting = std::async(std::launch::async, [&] {
    open_transaction locking{*bench_};
    begun.count_down();
    return locking->lock_rows(key_, wait_until_stopped(stop.get_token())).refusal().reason;
  });
  begun.wait();
  stop.request_stop();
  EXPECT_EQ(waiting.get(), refusal_reason::stopped);
}

INSTANTIATE_TEST_SUITE_P(Stores, LockRows, testing::ValuesIn(every_store()), name_of);
INSTANTIATE_TEST_SUITE_P(Stores, LockRowsAmongOthers,
                         testing::ValuesIn(stores_with_transactions_side_by_side()), name_of);

}  // namespace
}  // namespace rowlock::tests
