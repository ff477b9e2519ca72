// One key in the shape of std::timed_mutex, under the standard's own guards.
#include "rowlock/row_mutex.hpp"

#include <future>
#include <latch>
#include <mutex>
#include <vector>

#include "conformance/store_test.hpp"
#include "rowlock/error.hpp"

namespace rowlock::tests {
namespace {

class RowMutex : public store_test {
 protected:
  lock_table ours_{*rows_, {.ttl = 1h}};
  const std::shared_ptr<store> their_rows_ = bench_->open();
  lock_table their_locks_{*their_rows_, {.ttl = 1h}};
  row_mutex mutex_{ours_, key_};
};

TEST_P(RowMutex, HoldsTheRowWhileItIsLocked) {
  {
    const std::unique_lock lock{mutex_};
    EXPECT_TRUE(row(key_).is_live());
    EXPECT_EQ(mutex_.possession().token(), row(key_).version);
    EXPECT_FALSE(their_locks_.try_acquire(key_).acquired());
  }
  EXPECT_FALSE(row(key_).owned);
  EXPECT_THROW((void)mutex_.possession(), error);
}

TEST_P(RowMutex, TriesAndIsRefusedWhileAnotherLockTableHasTheKey) {
  auto held = their_locks_.try_acquire(key_);
  EXPECT_FALSE((std::unique_lock{mutex_, std::try_to_lock}));
  EXPECT_FALSE((std::unique_lock{mutex_, 30ms}));
  EXPECT_FALSE((std::unique_lock{mutex_, std::chrono::system_clock::now() + 30ms}));
  held->release();
  EXPECT_TRUE((std::unique_lock{mutex_, std::try_to_lock}));
  EXPECT_TRUE((std::unique_lock{mutex_, 30s}));
}

TEST_P(RowMutex, TriesAndIsRefusedWhileAnotherThreadHasIt) {
  const std::unique_lock lock{mutex_};
  std::async(std::launch::async, [&] {
    EXPECT_FALSE((std::unique_lock{mutex_, std::try_to_lock}));
    EXPECT_FALSE((std::unique_lock{mutex_, 30ms}));
  }).get();
  EXPECT_TRUE(mutex_.possession().is_valid());
}

TEST_P(RowMutex, UnlocksQuietlyWhenTheLeaseWasLost) {
  std::unique_lock lock{mutex_};
  bench_->run_out(key_);
  const auto taken = their_locks_.try_acquire(key_);
  ASSERT_TRUE(taken.acquired());
  lock.unlock();
  EXPECT_EQ(row(key_).version, taken->token());
  EXPECT_TRUE(row(key_).is_live());
}

TEST_P(RowMutex, ExcludesThreadsThatShareIt) {
  int counter = 0;  // guarded by mutex_
  std::vector<std::future<void>> working;
  for (int number = 0; number < 4; ++number) {
    working.push_back(std::async(std::launch::async, [&] {
      for (int round = 0; round < 10; ++round) {
        const std::scoped_lock lock{mutex_};
        ++counter;
      }
    }));
  }
  for (auto& each : working) each.get();
  EXPECT_EQ(counter, 40);
}

TEST_P(RowMutex, LocksTwoRowsInOppositeOrdersWithoutDeadlock) {
  constexpr int rounds = 20;
  int counter = 0;  // guarded by both keys
  std::latch start{2};
  const auto work = [&](store& rows, const lock_key& first, const lock_key& second) {
    lock_table locks{rows, {.ttl = 1h}};
    row_mutex one{locks, first};
    row_mutex other{locks, second};
    start.arrive_and_wait();
    for (int round = 0; round < rounds; ++round) {
      const std::scoped_lock both{one, other};
      EXPECT_TRUE(one.possession().is_valid());
      EXPECT_TRUE(other.possession().is_valid());
      ++counter;
    }
  };
  auto forwards = std::async(std::launch::async, [&] { work(*rows_, key_, other_key_); });
  auto backwards = std::async(std::launch::async, [&] { work(*their_rows_, other_key_, key_); });
  forwards.get();
  backwards.get();
  EXPECT_EQ(counter, 2 * rounds);
  EXPECT_TRUE(rows_->list().empty());
}

INSTANTIATE_TEST_SUITE_P(Stores, RowMutex, testing::ValuesIn(every_store()), name_of);

}  // namespace
}  // namespace rowlock::tests
