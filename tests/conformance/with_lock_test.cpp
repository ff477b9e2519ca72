// A callback under a lease.
#include <atomic>
#include <future>
#include <latch>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "conformance/locked_rows.hpp"
#include "conformance/store_test.hpp"
#include "rowlock/lock_table.hpp"

namespace rowlock::tests {
namespace {

class WithLock : public store_test {
 protected:
  lock_table ours_{*rows_, {.ttl = 1h, .holder = "ours"}};
  const std::shared_ptr<store> their_rows_ = bench_->open();
  lock_table their_locks_{*their_rows_, {.ttl = 1h, .holder = "theirs"}};
};

TEST_P(WithLock, RunsTheCallbackUnderTheLeaseItIsGiven) {
  const auto result = ours_.with_lock(key_, [&](const lease& held) {
    EXPECT_TRUE(held.is_valid());
    EXPECT_EQ(held.token(), row(key_).version);
    EXPECT_EQ(their_locks_.try_acquire(key_).refusal().reason, refusal_reason::held);
    return held.token();
  });
  ASSERT_TRUE(result.acquired());
  EXPECT_TRUE(result.kept());
  EXPECT_GT(row(key_).version, *result);
}

TEST_P(WithLock, UnsetsTheRowWhenTheCallbackHasReturned) {
  ASSERT_TRUE(ours_.with_lock(key_, [] {}).acquired());
  EXPECT_FALSE(row(key_).owned);
  EXPECT_EQ(row(key_).failure_count, 0);
  EXPECT_EQ(row(key_).expiry_count, 0);
}

TEST_P(WithLock, HandsBackWhatTheCallbackReturns) {
  EXPECT_EQ(*ours_.with_lock(key_, [] { return 42; }), 42);
  EXPECT_FALSE(*ours_.with_lock(key_, [] { return false; }));
  auto moved = ours_.with_lock(key_, [] { return std::make_unique<int>(7); });
  EXPECT_EQ(**moved, 7);
  const std::string text = "text";
  const outcome<std::string> copied =
      ours_.with_lock(key_, [&]() -> const std::string& { return text; });
  EXPECT_EQ(*copied, "text");
  const outcome<void> nothing = ours_.with_lock(key_, [] {});
  EXPECT_TRUE(nothing.kept());
}

TEST_P(WithLock, DoesNotRunTheCallbackWhenRefused) {
  const auto held = their_locks_.try_acquire(key_);
  bool has_run = false;
  const auto refused = ours_.with_lock(key_, [&] { has_run = true; });
  ASSERT_FALSE(refused.acquired());
  EXPECT_FALSE(refused.kept());
  EXPECT_FALSE(has_run);
  EXPECT_EQ(refused.refusal().reason, refusal_reason::held);
  EXPECT_EQ(refused.refusal().holder, "theirs");
  EXPECT_GT(refused.refusal().remaining, 30min);
  EXPECT_TRUE(held->is_valid());
}

TEST_P(WithLock, LetsAnExceptionThroughUnchangedUnsetsTheRowAndCountsTheFailure) {
  struct special {
    int number;
  };
  for (const int number : {1, 2}) {
    try {
      (void)ours_.with_lock(key_, [&] { throw special{number}; });
      ADD_FAILURE() << "the exception is gone";
    } catch (const special& thrown) {
      EXPECT_EQ(thrown.number, number);
    }
    EXPECT_FALSE(row(key_).owned);
    EXPECT_EQ(row(key_).failure_count, number);
  }
  EXPECT_TRUE(their_locks_.try_acquire(key_).acquired());
}

TEST_P(WithLock, TellsThatTheLeaseWasTakenOverMeanwhile) {
  std::optional<outcome<lease>> taken;
  const auto result = ours_.with_lock(key_, [&] {
    bench_->run_out(key_);
    taken.emplace(their_locks_.try_acquire(key_));
    return 42;
  });
  ASSERT_TRUE(taken->acquired());
  EXPECT_EQ(*result, 42);
  EXPECT_FALSE(result.kept());
  EXPECT_EQ(row(key_).holder, "theirs");
  const auto of_nothing = ours_.with_lock(other_key_, [&] {
    bench_->run_out(other_key_);
    prepare(other_key_);
  });
  EXPECT_TRUE(of_nothing.acquired());
  EXPECT_FALSE(of_nothing.kept());
}

TEST_P(WithLock, CountsNoFailureOnALeaseThatWasTakenOver) {
  std::optional<outcome<lease>> taken;
  EXPECT_THROW((void)ours_.with_lock(key_,
                                     [&] {
                                       bench_->run_out(key_);
                                       taken.emplace(their_locks_.try_acquire(key_));
                                       throw std::runtime_error{"failed"};
                                     }),
               std::runtime_error);
  EXPECT_EQ(row(key_).failure_count, 0);
  EXPECT_EQ(row(key_).holder, "theirs");
}

TEST_P(WithLock, OfAnExpectedVersionRunsOncePerVersion) {
  const auto seen = *ours_.read(key_);
  int runs = 0;
  const auto run = [&] { return ++runs; };
  EXPECT_TRUE(ours_.with_lock(key_, run, {.expected = seen}).acquired());
  const auto again = their_locks_.with_lock(key_, run, {.expected = seen});
  EXPECT_EQ(again.refusal().reason, refusal_reason::stale);
  EXPECT_EQ(runs, 1);
}

TEST_P(WithLock, OfAMissingRowRunsOneOfManyCallbacksThatStartTogether) {
  constexpr int callers = 8;
  std::latch start{callers};
  std::latch answered{callers};
  std::atomic<int> runs = 0;
  std::vector<std::future<bool>> racing;
  for (int number = 0; number < callers; ++number) {
    racing.push_back(std::async(std::launch::async, [&] {
      lock_table locks{*rows_, {.ttl = 1h}};
      start.arrive_and_wait();
      const auto result = locks.with_lock(key_, [&] {
        ++runs;
        answered.arrive_and_wait();  // keeps the key until all were answered
      });
      if (!result.acquired()) answered.count_down();
      return result.acquired();
    }));
  }
  int winners = 0;
  for (auto& each : racing) winners += each.get() ? 1 : 0;
  EXPECT_EQ(winners, 1);
  EXPECT_EQ(runs, 1);
}

TEST_P(WithLock, RunsOneCallbackAtATime) {
  constexpr int threads = 4;
  constexpr int rounds = 10;
  std::atomic<int> inside = 0;
  int counter = 0;  // guarded by the key alone
  std::vector<std::future<void>> working;
  for (int number = 0; number < threads; ++number) {
    working.push_back(std::async(std::launch::async, [&] {
      lock_table locks{*rows_, {.ttl = 1h}};
      for (int round = 0; round < rounds; ++round) {
        const auto done =
            locks.with_lock(key_,
                            [&] {
                              EXPECT_EQ(++inside, 1);
                              ++counter;
                              --inside;
                            },
                            {.wait = retry_policy{.first_pause = 1ms, .longest_pause = 5ms}});
        EXPECT_TRUE(done.kept());
      }
    }));
  }
  for (auto& each : working) each.get();
  EXPECT_EQ(counter, threads * rounds);
  EXPECT_EQ(row(key_).failure_count, 0);
  EXPECT_EQ(row(key_).expiry_count, 0);
}

INSTANTIATE_TEST_SUITE_P(Stores, WithLock, testing::ValuesIn(every_store()), name_of);

}  // namespace
}  // namespace rowlock::tests
