// A clock that shows a test which threads wait.
#ifndef ROWLOCK_TESTS_WAIT_CLOCK_OF_WAITERS_HPP
#define ROWLOCK_TESTS_WAIT_CLOCK_OF_WAITERS_HPP

#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "rowlock/clock.hpp"

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
      waited_for_.insert(until);
      came_.notify_all();
    }
    moved_->wait_until(lock, wakeup, until);
  }

  void await_wait_until(boot_clock::time_point until) {
    std::unique_lock lock{mutex_};
    came_.wait(lock, [&] { return waited_for_.contains(until); });
  }

 private:
  const std::shared_ptr<manual_time> moved_;
  std::mutex mutex_;
  std::condition_variable came_;
  std::set<boot_clock::time_point> waited_for_;  // guarded by mutex_
};

}  // namespace rowlock::tests

#endif
