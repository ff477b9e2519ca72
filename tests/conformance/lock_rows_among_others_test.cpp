// Pessimistic locks while other transactions have rows locked too.
#include <future>
#include <latch>
#include <stop_token>
#include <vector>

#include "conformance/locked_rows.hpp"
#include "conformance/store_test.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {
namespace {

class LockRowsAmongOthers : public store_test {
 protected:
  const std::shared_ptr<store> rivals_ = bench_->open(20ms);
};

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
  EXPECT_EQ(renew(*rivals_, other_key_, theirs_, their_version), change_answer::done);
  EXPECT_EQ(release(*rivals_, other_key_, theirs_, their_version), change_answer::done);
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
  const auto locked = locking->lock_rows(key_, wait_for(150ms));
  ASSERT_FALSE(locked.acquired());
  EXPECT_EQ(locked.refusal().reason, refusal_reason::timed_out);
  locking->write_note("still usable");
  locking.commit();
  EXPECT_EQ(bench_->connect()->notes(), std::vector<std::string>{"still usable"});
}

TEST_P(LockRowsAmongOthers, WaitsForALeaseAsLongAsItWasTold) {
  granted(key_, theirs_);
  open_transaction locking{*bench_};
  const auto locked = locking->lock_rows(key_, wait_for(60ms));
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
  EXPECT_EQ(release(key_, theirs_, their_version), change_answer::done);
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

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LockRowsAmongOthers);
INSTANTIATE_TEST_SUITE_P(Stores, LockRowsAmongOthers,
                         testing::ValuesIn(stores_with_transactions_side_by_side()), name_of);

}  // namespace
}  // namespace rowlock::tests
