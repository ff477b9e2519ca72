// How often the threads that keep leases are woken.
#include "lease/lease_registry.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "support/patience.hpp"

namespace rowlock::detail {
namespace {

using namespace std::chrono_literals;

/// Stands still, and counts how often one thread reads it.
class counting_time final : public time_source {
 public:
  [[nodiscard]] boot_clock::time_point now() const noexcept override {
    if (std::this_thread::get_id() == counted_.load()) ++reads_;
    return boot_clock::time_point{1h};
  }
  void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& wakeup,
                  boot_clock::time_point /*until*/) override {
    wakeup.wait(lock);
  }

  void count_this_thread() {
    number_ = gettid();
    counted_ = std::this_thread::get_id();
  }
  [[nodiscard]] int reads() const { return reads_; }

  /// Whether that thread sleeps: one that is woken runs until it sleeps again.
  [[nodiscard]] bool is_its_reader_asleep() const {
    std::ifstream file{"/proc/self/task/" + std::to_string(number_.load()) + "/stat"};
    std::string text;
    std::getline(file, text);  // its number, its name in parentheses, its state, and more
    return text.at(text.rfind(')') + 2) == 'S';
  }

 private:
  std::atomic<pid_t> number_ = 0;
  std::atomic<std::thread::id> counted_;
  mutable std::atomic<int> reads_ = 0;
};

TEST(LeaseRegistry, ShortLeasesDoNotWakeTheThreadThatWatchesThem) {
  const auto time = std::make_shared<counting_time>();
  lease_registry book{time, 0ms, true};
  const std::jthread watcher{[&] {
    time->count_this_thread();
    book.wait_for_overdue();
  }};
  tests::await_that([&] { return time->reads() != 0; });

  const lease_request wanted{
      .request = {.key = {"job", "1"}, .owner = make_owner_id(), .holder = "", .ttl = 30s}};
  for (int i = 0; i < 100; ++i) {
    const auto lease = std::make_shared<lease_state>(wanted, version{1}, time->now());
    EXPECT_TRUE(book.add(lease, time->now()));
    EXPECT_TRUE(book.end(*lease, lease_phase::released));
    tests::await_that([&] { return time->is_its_reader_asleep(); });  // after it has read
  }
  book.close();
  EXPECT_LE(time->reads(), 4)
      << "two each time it goes to sleep: at first, and for the first lease";
}

TEST(LeaseRegistry, WithoutRenewalALeaseIsDueForNoneAlsoAfterAnExtension) {
  const auto time = std::make_shared<manual_time>();
  lease_registry book{time, 0ms, false};
  const lease_request wanted{
      .request = {.key = {"job", "1"}, .owner = make_owner_id(), .holder = "", .ttl = 30s}};
  const auto lease = std::make_shared<lease_state>(wanted, version{1}, time->now());
  ASSERT_TRUE(book.add(lease, time->now()));
  ASSERT_TRUE(book.begin_renewal(*lease));
  ASSERT_TRUE(book.renewed(*lease, time->now(), 60s));
  time->advance(59s);
  EXPECT_TRUE(book.wait_for_due(time->now()).empty());
  ASSERT_TRUE(book.begin_renewal(*lease));
  book.renew_soon_again(*lease);
  EXPECT_TRUE(book.wait_for_due(time->now()).empty());
  EXPECT_EQ(lease->phase, lease_phase::held);
}

TEST(LeaseRegistry, ALeaseThatIsOverdueHasEndedAndCannotEndAgain) {
  const auto time = std::make_shared<manual_time>();
  lease_registry book{time, 0ms, true};
  const lease_request wanted{
      .request = {.key = {"job", "1"}, .owner = make_owner_id(), .holder = "", .ttl = 30s}};
  const auto lease = std::make_shared<lease_state>(wanted, version{1}, time->now());
  ASSERT_TRUE(book.add(lease, time->now()));
  time->advance(30s);
  EXPECT_EQ(book.wait_for_overdue().lost, lease_states{lease});
  EXPECT_EQ(lease->phase, lease_phase::lost);
  EXPECT_FALSE(book.end(*lease, lease_phase::released));
}

}  // namespace
}  // namespace rowlock::detail
