// A thread that waits for the end of its wait.
#ifndef ROWLOCK_LOCK_BLOCKING_WAIT_HPP
#define ROWLOCK_LOCK_BLOCKING_WAIT_HPP

#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include "rowlock/clock.hpp"
#include "wait/key_queue.hpp"

namespace rowlock::detail {

/// Thread-safety: `answer` may be called from any thread.
class blocking_wait {
 public:
  void answer(attempt_end how) {
    const std::scoped_lock lock{mutex_};
    end_ = std::move(how);
    wake_.notify_all();
  }

  /// None: `until` has come, or a stop was requested.
  std::optional<attempt_end> wait(time_source& time, boot_clock::time_point until,
                                  const std::stop_token& stop) {
    const std::stop_callback wake{stop, [this] {
                                    const std::scoped_lock lock{mutex_};
                                    wake_.notify_all();
                                  }};
    std::unique_lock lock{mutex_};
    while (!end_ && !stop.stop_requested() && time.now() < until) {
      if (until == boot_clock::time_point::max()) {
        wake_.wait(lock);
      } else {
        time.wait_until(lock, wake_, until);
      }
    }
    return std::move(end_);
  }

  /// For an answer that is on its way.
  attempt_end wait() {
    std::unique_lock lock{mutex_};
    wake_.wait(lock, [this] { return end_.has_value(); });
    return *std::move(end_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  std::optional<attempt_end> end_;  // guarded by mutex_
};

}  // namespace rowlock::detail

#endif
