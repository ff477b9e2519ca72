// The calls that a shared statement waits a moment for.
#include "batch/batch_linger.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>
#include <thread>

#include "rowlock/detail/checked_mutex.hpp"
#include "support/patience.hpp"

namespace rowlock::detail {
namespace {

using namespace std::chrono_literals;

class BatchLinger : public testing::Test {
 protected:
  static batch_linger::clock::time_point ago(batch_linger::clock::duration duration) {
    return batch_linger::clock::now() - duration;
  }
  /// Whether it waited; until the end of the test, if no call comes.
  static bool linger(batch_linger& expected) {
    checked_lock lock{mutex_};
    return expected.linger(lock);
  }
  /// Returns once a thread waits.
  std::future<bool> start() {
    bool waits = false;
    auto lingered = std::async(std::launch::async, [&waits, this] {
      checked_lock lock{mutex_};
      waits = true;
      return patient_.linger(lock);
    });
    tests::await_that([&] {
      const checked_lock lock{mutex_};
      return waits;
    });
    return lingered;
  }
  static void come(batch_linger& expected) {
    const checked_lock lock{mutex_};
    expected.arrived();
  }

  static inline checked_mutex mutex_;
  batch_linger patient_{{.part = 1.0, .longest = 24h}};
};

TEST_F(BatchLinger, WhoWasAnsweredAloneAndComesAgainWaitsForNobody) {
  patient_.ended(ago(1h), 1);
  come(patient_);
  EXPECT_FALSE(linger(patient_));
}

TEST_F(BatchLinger, WhoAsksWaitsUntilAllThoseHaveComeWhoWereAnswered) {
  for (int i = 0; i < 2; ++i) {  // as it was worth it, the next one does, too
    patient_.ended(ago(1h), 3);
    come(patient_);
    auto lingered = start();
    come(patient_);
    EXPECT_EQ(lingered.wait_for(0s), std::future_status::timeout);
    come(patient_);
    EXPECT_TRUE(lingered.get());
    patient_.lingered(1, 1);
  }
}

TEST_F(BatchLinger, NobodyIsWaitedForAfterAStatementThatHungNorLater) {
  batch_linger stuck{{.part = 1.0, .longest = 1min}};
  stuck.ended(ago(1h), 9);
  EXPECT_FALSE(linger(stuck));
  batch_linger late{{.part = 0.0, .longest = 24h}};
  late.ended(ago(1h), 9);
  EXPECT_FALSE(linger(late));
}

TEST_F(BatchLinger, WhoWaitedInVainWaitsNotTheNextTimeThenNotForThreeAndSoOn) {
  const auto waits = [&] {
    patient_.ended(ago(1h), 1);
    auto lingered = start();
    come(patient_);
    if (!lingered.get()) return false;
    patient_.lingered(2, 0);
    return true;
  };
  std::string seen;
  for (int i = 0; i < 15; ++i) seen += waits() ? 'w' : '.';
  EXPECT_EQ(seen, "w.w...w.......w");
}

}  // namespace
}  // namespace rowlock::detail
