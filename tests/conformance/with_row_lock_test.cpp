// A callback inside the transaction that holds the rows.
#include <future>
#include <latch>
#include <set>
#include <stdexcept>
#include <vector>

#include "conformance/locked_rows.hpp"
#include "conformance/store_test.hpp"

namespace rowlock::tests {
namespace {

using notes = std::vector<std::string>;

class WithRowLock : public store_test {
 protected:
  const std::unique_ptr<app_connection> connection_ = bench_->connect();
  const std::shared_ptr<store> rivals_ = bench_->open(20ms);
};
class CallbackOfWithRowLock : public WithRowLock {};
class WithRowLockAmongOthers : public WithRowLock {};

TEST_P(WithRowLock, RunsTheCallbackInTheTransactionThatHoldsTheRowsAndCommits) {
  const auto before = unowned(key_);
  const auto result =
      connection_->with_row_lock({key_, other_key_}, no_wait(), [&](app_transaction& work) {
        EXPECT_EQ(acquire(*rivals_, key_, mine_).status, acquire_status::busy);
        EXPECT_EQ(acquire(*rivals_, other_key_, mine_).status, acquire_status::busy);
        work.write_note("done");
        return 42;
      });
  ASSERT_TRUE(result.acquired());
  EXPECT_TRUE(result.kept());
  EXPECT_EQ(*result, 42);
  EXPECT_EQ(connection_->notes(), notes{"done"});
  EXPECT_GT(row(key_).version, before);
  EXPECT_FALSE(row(key_).owned);
  EXPECT_EQ(row(key_).failure_count, 0);
  EXPECT_EQ(acquire(key_, mine_).status, acquire_status::granted);
}

TEST_P(WithRowLock, RollsBackCountsTheFailureAndLetsTheExceptionThroughUnchanged) {
  struct special {
    int number;
  };
  const auto before = unowned(key_);
  for (const int number : {1, 2}) {
    try {
      (void)connection_->with_row_lock({key_, other_key_}, no_wait(),
                                       [&](app_transaction& work) -> int {
                                         work.write_note("undone");
                                         throw special{number};
                                       });
      ADD_FAILURE() << "the exception is gone";
    } catch (const special& thrown) {
      EXPECT_EQ(thrown.number, number);
    }
    EXPECT_EQ(connection_->notes(), notes{});
    EXPECT_EQ(row(key_).version, before);
    EXPECT_EQ(row(key_).failure_count, number);
    EXPECT_EQ(row(other_key_).failure_count, number);
  }
  EXPECT_EQ(acquire(key_, mine_).status, acquire_status::granted);
}

TEST_P(WithRowLock, LeavesTheCommitToNoCallback) {
  unowned(key_);
  try {
    (void)connection_->with_row_lock(key_, no_wait(), [](app_transaction& work) {
      work.commit();
      return 0;
    });
    ADD_FAILURE() << "no error";
  } catch (const error& thrown) {
    EXPECT_EQ(thrown.kind(), errc::misuse);
  }
  EXPECT_TRUE(
      connection_->with_row_lock(key_, no_wait(), [](app_transaction&) { return 0; }).acquired());
}

TEST_P(CallbackOfWithRowLock, CommitsNothing) {
  const auto before = unowned(key_);
  try {
    (void)connection_->with_row_lock(key_, no_wait(), [](app_transaction& work) {
      work.write_note("too early");
      work.commit();
      return 0;
    });
    ADD_FAILURE() << "no error";
  } catch (const error& thrown) {
    EXPECT_EQ(thrown.kind(), errc::misuse);
  }
  EXPECT_EQ(connection_->notes(), notes{});
  EXPECT_EQ(row(key_).version, before);
}

TEST_P(WithRowLock, IsRefusedWithoutTheCallbackWhileALeaseIsLive) {
  granted(key_, theirs_);
  bool has_run = false;
  const auto refused = connection_->with_row_lock({key_, other_key_}, no_wait(),
                                                  [&](app_transaction&) { return has_run = true; });
  ASSERT_FALSE(refused.acquired());
  EXPECT_FALSE(has_run);
  EXPECT_EQ(refused.refusal().reason, refusal_reason::held);
  EXPECT_EQ(refused.refusal().key, key_);
  EXPECT_EQ(refused.refusal().holder, "host:1");
  EXPECT_EQ(row(key_).failure_count, 0);
}

TEST_P(WithRowLock, IsRefusedWithoutTheCallbackWhileATransactionHasTheRow) {
  unowned(key_);
  const locked_rows rival{*bench_, key_};
  bool has_run = false;
  const auto refused =
      connection_->with_row_lock(key_, no_wait(), [&](app_transaction&) { return has_run = true; });
  ASSERT_FALSE(refused.acquired());
  EXPECT_FALSE(has_run);
  EXPECT_EQ(refused.refusal().reason, refusal_reason::busy);
}

TEST_P(WithRowLock, RefusedLeavesTheConnectionWithoutATransaction) {
  const auto their_version = granted(key_, theirs_);
  const auto work = [](app_transaction& used) {
    used.write_note("done");
    return 0;
  };
  ASSERT_FALSE(connection_->with_row_lock(key_, no_wait(), work).acquired());
  ASSERT_EQ(release(key_, theirs_, their_version), change_answer::done);
  EXPECT_TRUE(connection_->with_row_lock(key_, no_wait(), work).acquired());
  EXPECT_EQ(connection_->notes(), notes{"done"});
}

TEST_P(WithRowLock, WaitsAsLongAsItWasTold) {
  granted(key_, theirs_);
  const auto refused =
      connection_->with_row_lock(key_, wait_for(60ms), [](app_transaction&) { return 0; });
  ASSERT_FALSE(refused.acquired());
  EXPECT_EQ(refused.refusal().reason, refusal_reason::timed_out);
}

TEST_P(WithRowLock, WaitsForATransactionAsLongAsItWasTold) {
  unowned(key_);
  const locked_rows rival{*bench_, key_};
  const auto refused =
      connection_->with_row_lock(key_, wait_for(150ms), [](app_transaction&) { return 0; });
  ASSERT_FALSE(refused.acquired());
  EXPECT_EQ(refused.refusal().reason, refusal_reason::timed_out);
}

TEST_P(WithRowLock, IsGrantedWhenWhatIsInTheWayEnds) {
  const auto run = [this](std::latch& begun) {
    return std::async(std::launch::async, [this, &begun] {
      const auto connection = bench_->connect();
      begun.count_down();
      return connection->with_row_lock(key_, wait_forever(), [](app_transaction&) { return 1; });
    });
  };
  {
    const auto their_version = granted(key_, theirs_);
    std::latch begun{1};
    auto waiting = run(begun);
    begun.wait();
    ASSERT_EQ(release(key_, theirs_, their_version), change_answer::done);
    EXPECT_TRUE(waiting.get().acquired());
  }
  locked_rows rival{*bench_, key_};
  std::latch begun{1};
  auto waiting = run(begun);
  begun.wait();
  rival.commit();
  EXPECT_TRUE(waiting.get().acquired());
}

TEST_P(WithRowLock, TakesAKeyWhoseLeaseRanOut) {
  run_out(key_, theirs_);
  EXPECT_TRUE(
      connection_->with_row_lock(key_, no_wait(), [](app_transaction&) { return 0; }).acquired());
  EXPECT_EQ(row(key_).expiry_count, 1);
  EXPECT_FALSE(row(key_).owned);
}

TEST_P(WithRowLock, LetsNoUpdateGetLostBetweenThreadsThatReadThenWrite) {
  constexpr int threads = 4;
  constexpr int rounds = 10;
  std::vector<std::future<void>> working;
  for (int number = 0; number < threads; ++number) {
    working.push_back(std::async(std::launch::async, [this] {
      const auto connection = bench_->connect();
      for (int round = 0; round < rounds; ++round) {
        const auto done =
            connection->with_row_lock(key_, wait_forever(), [](app_transaction& work) {
              work.write_note(std::to_string(work.notes().size()));
              return 0;
            });
        EXPECT_TRUE(done.acquired());
      }
    }));
  }
  for (auto& each : working) each.get();
  const auto written = connection_->notes();
  EXPECT_EQ(written.size(), std::size_t{threads} * rounds);
  EXPECT_EQ(std::set<std::string>(written.begin(), written.end()).size(), written.size());
}

TEST_P(WithRowLock, OverKeysInOppositeOrdersNeverDeadlocks) {
  constexpr int rounds = 10;
  std::vector<std::future<void>> working;
  for (const auto& keys : {std::vector{key_, other_key_}, std::vector{other_key_, key_}}) {
    working.push_back(std::async(std::launch::async, [this, keys] {
      const auto connection = bench_->connect();
      for (int round = 0; round < rounds; ++round) {
        EXPECT_TRUE(connection
                        ->with_row_lock(keys, wait_forever(),
                                        [](app_transaction& work) {
                                          work.write_note("done");
                                          return 0;
                                        })
                        .acquired());
      }
    }));
  }
  for (auto& each : working) each.get();
  EXPECT_EQ(connection_->notes().size(), 2U * rounds);
}

// The row is created in a transaction of its own, before the one that does the work.
TEST_P(WithRowLockAmongOthers, CreatesAMissingRowWithoutMakingAnybodyWaitForItsNeighbours) {
  const auto result = connection_->with_row_lock(key_, no_wait(), [&](app_transaction&) {
    EXPECT_TRUE(read(key_));
    EXPECT_EQ(acquire(*rivals_, other_key_, mine_).status, acquire_status::granted);
    return 0;
  });
  EXPECT_TRUE(result.acquired());
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(WithRowLock);
INSTANTIATE_TEST_SUITE_P(Stores, WithRowLock, testing::ValuesIn(stores_with_transactions()),
                         name_of);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CallbackOfWithRowLock);
INSTANTIATE_TEST_SUITE_P(Stores, CallbackOfWithRowLock,
                         testing::ValuesIn(stores_that_keep_callbacks_from_committing()), name_of);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(WithRowLockAmongOthers);
INSTANTIATE_TEST_SUITE_P(Stores, WithRowLockAmongOthers,
                         testing::ValuesIn(stores_with_transactions_side_by_side()), name_of);

}  // namespace
}  // namespace rowlock::tests
