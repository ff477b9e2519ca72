// A value passed once from one thread to another.
#ifndef ROWLOCK_BASE_ONE_SHOT_HPP
#define ROWLOCK_BASE_ONE_SHOT_HPP

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include "rowlock/clock.hpp"

namespace rowlock::detail {

/// Holds one value for one waiting thread. Each slot has its own mutex: threads woken together
/// would otherwise queue for a shared one.
///
/// Thread-safety: `set` may be called once, from any thread; the others from one thread.
template <class Value>
class one_shot {
 public:
  /// The receiver may have destroyed this object by the time `set` returns.
  void set(Value value) {
    const std::scoped_lock lock{mutex_};
    value_.emplace(std::move(value));
    changed_.notify_one();
  }

  Value wait() {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return value_.has_value(); });
    return *std::move(value_);
  }

  /// Returns nothing if no value was set in time.
  std::optional<Value> wait_for(std::chrono::milliseconds at_most) {
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, at_most, [this] { return value_.has_value(); });
    return std::move(value_);
  }

  /// Returns nothing once `until` has passed (`max` for no limit) or a stop was requested.
  std::optional<Value> wait_until(time_source& time, boot_clock::time_point until,
                                  const std::stop_token& stop) {
    const std::stop_callback wake{stop, [this] {
                                    const std::scoped_lock lock{mutex_};
                                    changed_.notify_one();
                                  }};
    std::unique_lock lock{mutex_};
    while (!value_ && !stop.stop_requested() && time.now() < until) {
      if (until == boot_clock::time_point::max()) {
        changed_.wait(lock);
      } else {
        time.wait_until(lock, changed_, until);
      }
    }
    return std::move(value_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Value> value_;  // guarded by mutex_
};

}  // namespace rowlock::detail

#endif
