// Optimistic commits while other transactions are at work on the same key.
#include <optional>
#include <vector>

#include "conformance/locked_rows.hpp"
#include "conformance/store_test.hpp"
#include "rowlock/retry.hpp"

namespace rowlock::tests {
namespace {

using notes = std::vector<std::string>;

class OptimisticCommitAmongOthers : public store_test {
 protected:
  const std::unique_ptr<app_connection> connection_ = bench_->connect();
  const std::shared_ptr<store> rivals_ = bench_->open(20ms);
};

TEST_P(OptimisticCommitAmongOthers, IsStaleAndRolledBackWhenSomebodyHadTheKeyMeanwhile) {
  unowned(key_);
  const auto result = connection_->with_optimistic_commit(key_, [&](app_transaction& work) {
    work.write_note("undone");
    touch(key_);
    return 0;
  });
  ASSERT_FALSE(result.acquired());
  EXPECT_EQ(result.refusal().reason, refusal_reason::stale);
  EXPECT_EQ(result.refusal().key, key_);
  EXPECT_EQ(connection_->notes(), notes{});
}

TEST_P(OptimisticCommitAmongOthers, IsStaleWhenSomebodyHasALeaseByNow) {
  unowned(key_);
  std::optional<version> their_version;
  const auto result = connection_->with_optimistic_commit(key_, [&](app_transaction&) {
    their_version = granted(key_, theirs_);
    return 0;
  });
  ASSERT_FALSE(result.acquired());
  EXPECT_EQ(result.refusal().reason, refusal_reason::stale);
  EXPECT_EQ(renew(key_, theirs_, *their_version), change_answer::done);
}

TEST_P(OptimisticCommitAmongOthers, IsStaleAndDoesNotWaitWhileAnotherTransactionHasTheRow) {
  unowned(key_);
  std::optional<locked_rows> rival;
  const auto result = connection_->with_optimistic_commit(key_, [&](app_transaction&) {
    rival.emplace(*bench_, key_);
    return 0;
  });
  ASSERT_FALSE(result.acquired());
  EXPECT_EQ(result.refusal().reason, refusal_reason::stale);
}

TEST_P(OptimisticCommitAmongOthers, OfTwoThatReadTheSameVersionOneGoesThrough) {
  const auto seen = unowned(key_);
  open_transaction first{*bench_};
  open_transaction second{*bench_};
  EXPECT_EQ(*first->read_version(key_), seen);
  EXPECT_EQ(*second->read_version(key_), seen);
  EXPECT_EQ(first->try_commit(key_, seen), commit_result::committed);
  EXPECT_EQ(second->try_commit(key_, seen), commit_result::stale);
  first.commit();
  EXPECT_EQ(second->try_commit(key_, seen), commit_result::stale);
}

// From its read on, the late holder of a lease that ran out can do no more.
TEST_P(OptimisticCommitAmongOthers, OfARowWhoseLeaseRanOutKeepsItsLateHolderFromRenewing) {
  const auto late_version = run_out(key_, theirs_);
  open_transaction committing{*bench_};
  const auto seen = *committing->read_version(key_);
  EXPECT_EQ(renew(*rivals_, key_, theirs_, late_version), change_answer::busy);
  EXPECT_EQ(acquire(*rivals_, key_, mine_).status, acquire_status::busy);
  EXPECT_EQ(committing->try_commit(key_, seen), commit_result::committed);
  committing.commit();
  EXPECT_EQ(renew(*rivals_, key_, theirs_, late_version), change_answer::lost);
}

TEST_P(OptimisticCommitAmongOthers, RetriedRunsAllOfItAgainWhenItWasStale) {
  unowned(key_);
  int runs = 0;
  const auto result = retry({.attempts = 3, .first_pause = 1ms}, [&] {
    return connection_->with_optimistic_commit(key_, [&](app_transaction& work) {
      work.write_note(std::to_string(++runs));
      if (runs < 3) touch(key_);
      return runs;
    });
  });
  EXPECT_EQ(*result, 3);
  EXPECT_EQ(connection_->notes(), notes{"3"});
}

TEST_P(OptimisticCommitAmongOthers, RetriedAnswersStaleWhenItsAttemptsAreUsedUp) {
  unowned(key_);
  int runs = 0;
  const auto result = retry({.attempts = 2, .first_pause = 1ms}, [&] {
    return connection_->with_optimistic_commit(key_, [&](app_transaction&) {
      touch(key_);
      return ++runs;
    });
  });
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(result.refusal().reason, refusal_reason::stale);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(OptimisticCommitAmongOthers);
INSTANTIATE_TEST_SUITE_P(Stores, OptimisticCommitAmongOthers,
                         testing::ValuesIn(stores_with_transactions_side_by_side()), name_of);

}  // namespace
}  // namespace rowlock::tests
