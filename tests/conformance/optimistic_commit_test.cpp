// Commits that go through only if the version is still the one that was read.
#include <future>
#include <set>
#include <stdexcept>
#include <vector>

#include "conformance/locked_rows.hpp"
#include "conformance/store_test.hpp"
#include "rowlock/retry.hpp"

namespace rowlock::tests {
namespace {

using notes = std::vector<std::string>;

class OptimisticCommit : public store_test {
 protected:
  const std::unique_ptr<app_connection> connection_ = bench_->connect();
};

TEST_P(OptimisticCommit, MovesTheVersionWithTheWork) {
  const auto before = unowned(key_);
  const auto result = connection_->with_optimistic_commit(key_, [](app_transaction& work) {
    work.write_note("done");
    return 42;
  });
  ASSERT_TRUE(result.acquired());
  EXPECT_EQ(*result, 42);
  EXPECT_EQ(connection_->notes(), notes{"done"});
  EXPECT_GT(row(key_).version, before);
  EXPECT_FALSE(row(key_).owned);
}

TEST_P(OptimisticCommit, CreatesAMissingRow) {
  const auto done = connection_->with_optimistic_commit(key_, [](app_transaction&) { return 0; });
  EXPECT_TRUE(done.acquired());
  EXPECT_FALSE(row(key_).owned);
  EXPECT_EQ(row(key_).expiry_count, 0);
}

TEST_P(OptimisticCommit, RollsBackAndLetsTheExceptionThroughWhenTheCallbackThrows) {
  const auto before = unowned(key_);
  EXPECT_THROW((void)connection_->with_optimistic_commit(key_,
                                                         [](app_transaction& work) -> int {
                                                           work.write_note("undone");
                                                           throw std::domain_error{"failed"};
                                                         }),
               std::domain_error);
  EXPECT_EQ(connection_->notes(), notes{});
  EXPECT_EQ(row(key_).version, before);
}

TEST_P(OptimisticCommit, IsRefusedBeforeTheCallbackWhileALeaseIsLive) {
  granted(key_, theirs_);
  bool has_run = false;
  const auto refused =
      connection_->with_optimistic_commit(key_, [&](app_transaction&) { return has_run = true; });
  ASSERT_FALSE(refused.acquired());
  EXPECT_FALSE(has_run);
  EXPECT_EQ(refused.refusal().reason, refusal_reason::held);
  EXPECT_EQ(refused.refusal().holder, "host:1");
  EXPECT_GT(refused.refusal().remaining, 30min);
}

TEST_P(OptimisticCommit, ReadsTheVersionOfTheRow) {
  const auto before = unowned(key_);
  open_transaction reading{*bench_};
  EXPECT_EQ(*reading->read_version(key_), before);
  reading.commit();
  EXPECT_EQ(row(key_).version, before);
}

TEST_P(OptimisticCommit, IsStaleOnceTheVersionMoved) {
  const auto seen = unowned(key_);
  touch(key_);
  const auto before = described(row(key_));
  open_transaction late{*bench_};
  EXPECT_EQ(late->try_commit(key_, seen), commit_result::stale);
  late.commit();
  EXPECT_EQ(described(row(key_)), before);
}

TEST_P(OptimisticCommit, IsStaleForEachVersionButTheLast) {
  const auto current = unowned(key_);
  open_transaction committing{*bench_};
  EXPECT_EQ(committing->try_commit(key_, version{current.number - 1}), commit_result::stale);
  EXPECT_EQ(committing->try_commit(key_, version{current.number + 1}), commit_result::stale);
  EXPECT_EQ(committing->try_commit(key_, current), commit_result::committed);
}

TEST_P(OptimisticCommit, IsStaleOnAMissingRowAndInsertsNone) {
  open_transaction committing{*bench_};
  EXPECT_EQ(committing->try_commit(key_, version{1}), commit_result::stale);
  committing.commit();
  EXPECT_FALSE(read(key_));
}

TEST_P(OptimisticCommit, IsStaleForASecondOneAgainstTheSameVersion) {
  const auto seen = unowned(key_);
  for (const auto expected : {commit_result::committed, commit_result::stale}) {
    open_transaction committing{*bench_};
    EXPECT_EQ(committing->try_commit(key_, seen), expected);
    committing.commit();
  }
}

TEST_P(OptimisticCommit, IsStaleAtTheVersionOfALiveLease) {
  const auto their_version = granted(key_, theirs_);
  open_transaction committing{*bench_};
  EXPECT_EQ(committing->try_commit(key_, their_version), commit_result::stale);
  committing.commit();
  EXPECT_EQ(renew(key_, theirs_, their_version), change_answer::done);
}

// Its holder may still be about to write with that version, and one of the two writes would be
// lost.
TEST_P(OptimisticCommit, IsStaleAtTheVersionOfALeaseThatRanOutButWasNotTaken) {
  const auto their_version = run_out(key_, theirs_);
  open_transaction committing{*bench_};
  EXPECT_EQ(committing->try_commit(key_, their_version), commit_result::stale);
  committing.commit();
  EXPECT_EQ(row(key_).version, their_version);
  EXPECT_EQ(renew(key_, theirs_, their_version), change_answer::done);
}

TEST_P(OptimisticCommit, ByWhoReadEndsALeaseThatRanOutSoThatItsLateHolderHasLost) {
  const auto late_version = run_out(key_, theirs_);
  open_transaction committing{*bench_};
  const auto seen = committing->read_version(key_);
  ASSERT_TRUE(seen.acquired());
  EXPECT_GT(*seen, late_version);
  EXPECT_EQ(committing->try_commit(key_, *seen), commit_result::committed);
  committing.commit();
  EXPECT_EQ(renew(key_, theirs_, late_version), change_answer::lost);
  EXPECT_EQ(release(key_, theirs_, late_version), change_answer::lost);
  EXPECT_EQ(row(key_).expiry_count, 1);
  EXPECT_FALSE(row(key_).owned);
}

TEST_P(OptimisticCommit, WaitsForNobodyWhoHasTheRowLocked) {
  unowned(key_);
  const locked_rows rival{*bench_, key_};
  const auto refused = connection_->with_optimistic_commit(key_, [](app_transaction& work) {
    work.write_note("undone");
    return 0;
  });
  EXPECT_FALSE(refused.acquired());
}

TEST_P(OptimisticCommit, RetriedLosesNoUpdateBetweenThreadsThatReadThenWrite) {
  constexpr int threads = 4;
  constexpr int rounds = 10;
  std::vector<std::future<void>> working;
  for (int number = 0; number < threads; ++number) {
    working.push_back(std::async(std::launch::async, [this] {
      const auto connection = bench_->connect();
      const auto write = [&] {
        auto done = connection->with_optimistic_commit(key_, [](app_transaction& work) {
          work.write_note(std::to_string(work.notes().size()));
          return 0;
        });
        // Another transaction is at work: no conflict yet, but none of the work is done either.
        const bool is_busy = !done.acquired() && done.refusal().reason == refusal_reason::busy;
        return is_busy ? outcome<int>{refusal{.reason = refusal_reason::stale}} : done;
      };
      for (int round = 0; round < rounds; ++round) {
        EXPECT_TRUE(retry({.first_pause = 1ms, .longest_pause = 20ms}, write).acquired());
      }
    }));
  }
  for (auto& each : working) each.get();
  const auto written = connection_->notes();
  EXPECT_EQ(written.size(), std::size_t{threads} * rounds);
  EXPECT_EQ(std::set<std::string>(written.begin(), written.end()).size(), written.size());
}

TEST_P(OptimisticCommit, IsRetriedOnStaleOnly) {
  granted(key_, theirs_);
  int tries = 0;
  const auto held = retry({.attempts = 3, .first_pause = 1ms}, [&] {
    ++tries;
    return connection_->with_optimistic_commit(key_, [](app_transaction&) { return 0; });
  });
  EXPECT_EQ(held.refusal().reason, refusal_reason::held);
  EXPECT_EQ(tries, 1);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(OptimisticCommit);
INSTANTIATE_TEST_SUITE_P(Stores, OptimisticCommit, testing::ValuesIn(stores_with_transactions()),
                         name_of);

}  // namespace
}  // namespace rowlock::tests
