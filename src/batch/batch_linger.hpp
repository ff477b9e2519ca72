// Group commit: a short delay before a batch, so that more calls join it.
#ifndef ROWLOCK_BATCH_BATCH_LINGER_HPP
#define ROWLOCK_BATCH_BATCH_LINGER_HPP

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>

#include "rowlock/detail/checked_mutex.hpp"

namespace rowlock::detail {

/// Threads in a closed loop split into two groups that alternate, so each commit serves half of
/// them. A delay before a batch lets the threads that were answered last join it. It ends when all
/// of them have come, and after the time of one statement at the latest. After a delay that was not
/// worth it, some delays are skipped. A call that was answered alone does not wait.
///
/// Thread-safety: none; the owner's mutex must be locked.
class batch_linger {
 public:
  using clock = std::chrono::steady_clock;

  struct limits {
    /// Longest delay, as a part of the previous statement's time. (Tests choose others.)
    double part = 1.0;
    /// No delay after a longer statement: its time does not predict the next one's.
    clock::duration longest = std::chrono::milliseconds{20};
  };

  explicit batch_linger(const limits& has) : limits_{has} {}

  /// To be called when a statement has ended, with the number of calls that it answered.
  void ended(clock::time_point began, std::size_t answered);
  /// To be called when a call begins or waits.
  void arrived();
  /// Calls that the last statement answered and whose threads have not called again.
  [[nodiscard]] std::size_t expected() const { return expected_; }
  /// To be called before a statement. Waits for expected calls; returns whether it waited.
  bool linger(checked_lock& lock);
  /// Reports a delay: `calls` have waited, and `joined` others have joined them.
  void lingered(std::size_t calls, std::size_t joined);

 private:
  const limits limits_;
  std::condition_variable all_arrived_;
  clock::time_point ended_at_;
  clock::duration took_{};
  clock::duration waited_{};
  std::size_t expected_ = 0;
  unsigned skips_ = 0;  // delays to skip after one that was not worth it
  unsigned to_skip_ = 0;
};

inline void batch_linger::ended(clock::time_point began, std::size_t answered) {
  ended_at_ = clock::now();
  took_ = ended_at_ - began;
  expected_ = answered;
}

inline void batch_linger::arrived() {
  if (expected_ > 0 && --expected_ == 0) all_arrived_.notify_all();
}

inline bool batch_linger::linger(checked_lock& lock) {
  if (expected_ == 0 || took_ > limits_.longest) return false;
  const std::chrono::duration<double> longest = took_ * limits_.part;
  const auto until = ended_at_ + std::chrono::duration_cast<clock::duration>(longest);
  const auto began = clock::now();
  if (began >= until) return false;
  if (to_skip_ > 0) {
    --to_skip_;
    return false;
  }
  all_arrived_.wait_until(lock.native(), until, [this] { return expected_ == 0; });
  waited_ = clock::now() - began;
  return true;
}

inline void batch_linger::lingered(std::size_t calls, std::size_t joined) {
  // Each joined call has saved a statement's time; each waiting call has lost the delay.
  const bool was_worth_it =
      static_cast<double>(joined) * took_ >= static_cast<double>(calls) * waited_;
  skips_ = was_worth_it ? 0 : std::min(2 * skips_ + 1, 63U);
  to_skip_ = skips_;
}

}  // namespace rowlock::detail

#endif
