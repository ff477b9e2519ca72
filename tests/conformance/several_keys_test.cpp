// Sets, permits, readers and writers, as users hold them.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "conformance/store_test.hpp"
#include "rowlock/error.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/read_write_lock.hpp"
#include "rowlock/semaphore.hpp"

namespace rowlock::tests {
namespace {

class SeveralKeys : public store_test {
 protected:
  /// Two `lock_table`s on stores of their own stand for two processes.
  const std::shared_ptr<store> their_rows_ = bench_->open();
  lock_table ours_{*rows_, {.ttl = 1h, .renew = false}};
  lock_table others_{*their_rows_, {.ttl = 1h, .renew = false}};

  /// Calls `round` from several threads for each of the two, so often.
  template <class Round>
  void storm(const Round& round) {
    constexpr int threads = 3;
    constexpr int rounds = 5;
    std::vector<std::future<void>> running;
    for (auto* locks : {&ours_, &others_}) {
      for (int i = 0; i < threads; ++i) {
        running.push_back(std::async(std::launch::async, [locks, &round] {
          for (int done = 0; done < rounds; ++done) round(*locks);
        }));
      }
    }
    for (auto& each : running) each.get();
  }
};

TEST_P(SeveralKeys, ThatCrossAreHadByOneAtATime) {
  std::atomic<int> inside{0};
  const lock_key third{"invoice", "44"};
  std::atomic<int> turn{0};
  storm([&](lock_table& locks) {
    const std::vector<std::vector<lock_key>> sets{
        {key_, other_key_}, {other_key_, third}, {third, other_key_, key_}};
    const auto& keys = sets[static_cast<std::size_t>(turn++) % sets.size()];
    const auto done =
        locks.with_lock_all(keys,
                            [&] {
                              EXPECT_EQ(++inside, 1);  // every two of the sets have a key in common
                              --inside;
                            },
                            {.wait = wait_forever()});
    EXPECT_TRUE(done.kept());
  });
}

TEST_P(SeveralKeys, OfWhichAnyWillDoAreEachHadOnce) {
  std::vector<lock_key> candidates;
  for (int i = 0; i < 60; ++i) candidates.push_back({"task", std::to_string(i)});
  std::atomic<int> taken{0};
  std::vector<std::future<std::vector<lease_set>>> workers;
  for (auto* locks : {&ours_, &others_}) {
    workers.push_back(std::async(std::launch::async, [&, locks] {
      std::vector<lease_set> all;
      for (int i = 0; i < 6; ++i) {
        auto some = locks->try_acquire_any(candidates, 10);
        if (some.acquired()) all.push_back(*std::move(some));
      }
      return all;
    }));
  }
  std::vector<lock_key> had;
  std::vector<std::vector<lease_set>> kept;
  for (auto& worker : workers) kept.push_back(worker.get());
  for (const auto& sets : kept) {
    for (const auto& set : sets) {
      for (const auto& each : set.leases()) had.push_back(each.key());
    }
  }
  std::sort(had.begin(), had.end());
  EXPECT_EQ(std::adjacent_find(had.begin(), had.end()), had.end());
  EXPECT_LE(had.size(), 60U);
  EXPECT_GE(had.size(), 50U) << "a refused row was not tried again";
}

TEST_P(SeveralKeys, ArePermitsOfWhichNoMoreAreHeldThanThereAre) {
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  const retry_policy patient{.first_pause = 1ms, .longest_pause = 20ms};
  semaphore ours{ours_, key_, 2};
  semaphore others{others_, key_, 2};
  storm([&](lock_table& locks) {
    auto& permits = &locks == &ours_ ? ours : others;
    const auto done = permits.with_permit(
        [&] {
          most = std::max(most.load(), ++inside);
          --inside;
        },
        {.wait = patient});
    EXPECT_TRUE(done.acquired());
  });
  EXPECT_LE(most, 2);
}

TEST_P(SeveralKeys, AreReadersOrOneWriter) {
  std::atomic<int> readers{0};
  std::atomic<int> writers{0};
  std::atomic<int> turn{0};
  const retry_policy patient{.first_pause = 1ms, .longest_pause = 20ms};
  read_write_lock ours{ours_, key_, 3};
  read_write_lock others{others_, key_, 3};
  storm([&](lock_table& locks) {
    auto& book = &locks == &ours_ ? ours : others;
    if (turn++ % 3 == 0) {
      const auto written = book.with_exclusive(
          [&] {
            EXPECT_EQ(++writers, 1);
            EXPECT_EQ(readers, 0);
            --writers;
          },
          {.wait = patient});
      EXPECT_TRUE(written.acquired());
    } else {
      const auto read = book.with_shared(
          [&] {
            ++readers;
            EXPECT_EQ(writers, 0);
            --readers;
          },
          {.wait = patient});
      EXPECT_TRUE(read.acquired());
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Stores, SeveralKeys, testing::ValuesIn(every_store()), name_of);

class SeveralKeysInATransaction : public SeveralKeys {};

TEST_P(SeveralKeysInATransaction, AreProvedByOneFence) {
  const auto held = *ours_.try_acquire_all({key_, other_key_});
  const auto application = bench_->connect();
  {
    auto work = *application->begin();
    work->write_note("under both");
    work->fence(held);
    work->commit();
  }
  bench_->run_out(other_key_);
  ASSERT_EQ(acquire(other_key_, theirs_).status, acquire_status::granted);
  auto work = *application->begin();
  work->write_note("under one");
  EXPECT_THROW(work->fence(held), lease_lost);
  work.reset();
  EXPECT_EQ(application->notes(), std::vector<std::string>{"under both"});
}

TEST_P(SeveralKeysInATransaction, AreReleasedWithTheTransaction) {
  auto held = *ours_.try_acquire_all({key_, other_key_});
  const auto application = bench_->connect();
  auto work = *application->begin();
  work->release_with(held);
  work->commit();
  EXPECT_FALSE(row(key_).owned);
  EXPECT_FALSE(row(other_key_).owned);
  EXPECT_EQ(held.release(), release_result::released);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SeveralKeysInATransaction);
INSTANTIATE_TEST_SUITE_P(Stores, SeveralKeysInATransaction,
                         testing::ValuesIn(stores_with_transactions()), name_of);

}  // namespace
}  // namespace rowlock::tests
