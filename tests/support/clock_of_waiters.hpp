// A clock that shows a test which threads wait.
#ifndef ROWLOCK_TESTS_SUPPORT_CLOCK_OF_WAITERS_HPP
#define ROWLOCK_TESTS_SUPPORT_CLOCK_OF_WAITERS_HPP

#include <condition_variable>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

#include "rowlock/clock.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {

/// Knows until when threads wait: one with a time of its own is in line once that time is awaited.
class clock_of_waiters final : public time_source {
 public:
  explicit clock_of_waiters(std::shared_ptr<manual_time> moved) : moved_{std::move(moved)} {}

  [[nodiscard]] boot_clock::time_point now() const noexcept override { return moved_->now(); }
  void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& wakeup,
                  boot_clock::time_point until) override {
    {
      const std::scoped_lock noting{mutex_};
      waiters_[until].insert(std::this_thread::get_id());
      came_.notify_all();
    }
    moved_->wait_until(lock, wakeup, until);
  }

  /// Returns once so many threads wait until then, or have done so.
  void await_wait_until(boot_clock::time_point until, std::size_t threads = 1) {
    std::unique_lock lock{mutex_};
    if (!came_.wait_for(lock, patience, [&] { return waiters_[until].size() >= threads; })) {
      throw std::runtime_error{"no thread waits until then"};
    }
  }

 private:
  const std::shared_ptr<manual_time> moved_;
  std::mutex mutex_;
  std::condition_variable came_;
  std::map<boot_clock::time_point, std::set<std::thread::id>> waiters_;  // guarded by mutex_
};

}  // namespace rowlock::tests

#endif
