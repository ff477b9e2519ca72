// A value passed from one thread to another.
#ifndef ROWLOCK_BASE_MAILBOX_HPP
#define ROWLOCK_BASE_MAILBOX_HPP

#include <chrono>
#include <condition_variable>
#include <optional>
#include <stop_token>
#include <utility>

#include "rowlock/clock.hpp"
#include "rowlock/detail/checked_mutex.hpp"

namespace rowlock::detail {

/// Holds one value for one waiting thread. Each slot has its own mutex: threads woken together
/// would otherwise queue for a shared one.
///
/// Thread-safety: `set` may be called from any thread, the others from one. A value that was not
/// taken is replaced.
template <class Value>
class mailbox {
 public:
  /// The receiver may have destroyed this object by the time `set` returns.
  void set(Value value) {
    const checked_lock lock{mutex_};
    value_.emplace(std::move(value));
    changed_.notify_one();
  }

  Value wait() {
    checked_lock lock{mutex_};
    while (!value_) changed_.wait(lock.native());
    return *std::exchange(value_, std::nullopt);
  }

  /// Returns nothing if no value was set in time.
  std::optional<Value> wait_for(std::chrono::milliseconds longest) {
    const auto until = std::chrono::steady_clock::now() + longest;
    checked_lock lock{mutex_};
    while (!value_ && changed_.wait_until(lock.native(), until) == std::cv_status::no_timeout) {
    }
    return std::exchange(value_, std::nullopt);
  }

  /// Returns nothing once `until` has passed (`max` for no limit) or a stop was requested.
  std::optional<Value> wait_until(time_source& time, boot_clock::time_point until,
                                  const std::stop_token& stop) {
    const std::stop_callback wake{stop, [this] {
                                    const checked_lock lock{mutex_};
                                    changed_.notify_one();
                                  }};
    checked_lock lock{mutex_};
    while (!value_ && !stop.stop_requested() && time.now() < until) {
      if (until == boot_clock::time_point::max()) {
        changed_.wait(lock.native());
      } else {
        time.wait_until(lock.native(), changed_, until);
      }
    }
    return std::exchange(value_, std::nullopt);
  }

 private:
  checked_mutex mutex_;
  std::condition_variable changed_;
  std::optional<Value> value_ ROWLOCK_GUARDED_BY(mutex_);
};

}  // namespace rowlock::detail

#endif
