// Events of a test during the calls and the pauses of what it tests.
#ifndef ROWLOCK_EXAMPLES_ORIGINS_SUPPORT_EVENTS_HPP
#define ROWLOCK_EXAMPLES_ORIGINS_SUPPORT_EVENTS_HPP

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "origins/support/origin_test.hpp"
#include "rowlock/clock.hpp"
#include "rowlock/port/passing_store.hpp"

namespace origins {

using event = std::function<void()>;

/// Records the calls, and runs the events of a test before and after them.
class hooked_client final : public rowlock::passing_store {
 public:
  using rowlock::passing_store::passing_store;

  void before_next(rowlock::store_call which, event run) { set(before_, which, std::move(run)); }
  /// When the database has answered.
  void after_next(rowlock::store_call which, event run) { set(after_, which, std::move(run)); }
  [[nodiscard]] std::vector<rowlock::store_call> made() const {
    const std::scoped_lock lock{mutex_};
    return made_;
  }

 protected:
  void pass(rowlock::store_call which, rowlock::work_on_store work) override {
    {
      const std::scoped_lock lock{mutex_};
      made_.push_back(which);
    }
    run(before_, which);
    passing_store::pass(which, work);
    run(after_, which);
  }

 private:
  using events = std::map<rowlock::store_call, event>;

  void set(events& where, rowlock::store_call which, event run) {
    const std::scoped_lock lock{mutex_};
    where[which] = std::move(run);
  }
  void run(events& where, rowlock::store_call which) {
    event next;
    {
      const std::scoped_lock lock{mutex_};
      next.swap(where[which]);
    }
    if (next) next();
  }

  mutable std::mutex mutex_;
  std::vector<rowlock::store_call> made_;  // guarded by mutex_
  events before_;                          // guarded by mutex_
  events after_;                           // guarded by mutex_
};

/// Runs an event of the test at the end of pauses.
class eventful_time final : public rowlock::time_source {
 public:
  explicit eventful_time(std::shared_ptr<virtual_time> passed) : passed_{std::move(passed)} {}

  /// 1: at the end of the next one.
  void in_pause(int number, event run) {
    in_each_pause([left = number, run = std::move(run)]() mutable {
      if (--left == 0) run();
    });
  }
  void in_each_pause(event run) { event_ = std::move(run); }

  [[nodiscard]] rowlock::boot_clock::time_point now() const noexcept override {
    return passed_->now();
  }
  void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& wakeup,
                  rowlock::boot_clock::time_point until) override {
    passed_->wait_until(lock, wakeup, until);
    if (event_) event_();
  }

 private:
  const std::shared_ptr<virtual_time> passed_;
  event event_;
};

}  // namespace origins

#endif
