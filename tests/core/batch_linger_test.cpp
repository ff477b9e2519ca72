// For whom a shared statement waits a moment.
#include "batch/batch_linger.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <mutex>
#include <string>
#include <thread>

namespace rowlock::detail {
namespace {

using namespace std::chrono_literals;

class Company : public testing::Test {
 protected:
  static company::clock::time_point ago(company::clock::duration duration) {
    return company::clock::now() - duration;
  }
  /// Whether it waited; until the end of the test, if nobody comes.
  static bool await(company& expected) {
    std::unique_lock lock{mutex_};
    return expected.await(lock);
  }
  /// Returns once somebody waits.
  std::future<bool> start() {
    bool waits = false;
    auto has_waited = std::async(std::launch::async, [&waits, this] {
      std::unique_lock lock{mutex_};
      waits = true;
      return patient_.await(lock);
    });
    for (std::unique_lock lock{mutex_}; !waits; lock.lock()) {
      lock.unlock();
      std::this_thread::yield();
    }
    return has_waited;
  }
  static void come(company& expected) {
    const std::scoped_lock lock{mutex_};
    expected.came();
  }

  static inline std::mutex mutex_;
  company patient_{{.part = 1.0, .shortest = 0ms, .longest = 24h}};
};

TEST_F(Company, WhoWasAnsweredAloneAndComesAgainWaitsForNobody) {
  patient_.ended(ago(1h), 1);
  come(patient_);
  EXPECT_FALSE(await(patient_));
}

TEST_F(Company, WhoAsksWaitsUntilAllThoseHaveComeWhoWereAnswered) {
  for (int i = 0; i < 2; ++i) {  // as it was worth it, the next one does, too
    patient_.ended(ago(1h), 3);
    come(patient_);
    auto has_waited = start();
    come(patient_);
    EXPECT_EQ(has_waited.wait_for(0s), std::future_status::timeout);
    come(patient_);
    EXPECT_TRUE(has_waited.get());
    patient_.has_waited(1, 1);
  }
}

TEST_F(Company, NobodyIsWaitedForAfterAStatementThatWasQuickOrStuckNorLater) {
  company quick{{.part = 1.0, .shortest = 2h, .longest = 24h}};
  quick.ended(ago(1h), 9);
  EXPECT_FALSE(await(quick));
  company stuck{{.part = 1.0, .shortest = 0ms, .longest = 1min}};
  stuck.ended(ago(1h), 9);
  EXPECT_FALSE(await(stuck));
  company late{{.part = 0.0, .shortest = 0ms, .longest = 24h}};
  late.ended(ago(1h), 9);
  EXPECT_FALSE(await(late));
}

TEST_F(Company, WhoWaitedInVainWaitsNotTheNextTimeThenNotForThreeAndSoOn) {
  const auto waits = [&] {
    patient_.ended(ago(1h), 1);
    auto has_waited = start();
    come(patient_);
    if (!has_waited.get()) return false;
    patient_.has_waited(2, 0);
    return true;
  };
  std::string seen;
  for (int i = 0; i < 15; ++i) seen += waits() ? 'w' : '.';
  EXPECT_EQ(seen, "w.w...w.......w");
}

}  // namespace
}  // namespace rowlock::detail
