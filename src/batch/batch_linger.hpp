// Group commit: a short delay before a batch, so that more calls join it.
#ifndef ROWLOCK_BATCH_BATCH_LINGER_HPP
#define ROWLOCK_BATCH_BATCH_LINGER_HPP

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace rowlock::detail {

/// Threads in a closed loop split into two groups that alternate, so each commit serves half of
/// them. A short delay before a batch lets both groups join it, if a commit takes long enough.
/// After a delay that was not worth it, some delays are skipped. A call that was answered alone
/// does not wait.
///
/// Thread-safety: none; the owner's mutex must be locked.
class batch_linger {
 public:
  using clock = std::chrono::steady_clock;

  struct limits {
    /// Longest delay, as a part of the previous statement's time.
    double part = 0.25;
    /// No delay after a shorter statement: it ends before other calls could join.
    clock::duration shortest = std::chrono::milliseconds{2};
    /// No delay after a longer statement: its time does not predict the next one's.
    clock::duration longest = std::chrono::milliseconds{20};
  };

  explicit batch_linger(const limits& has) : limits_{has} {}

  /// To be called when a statement has ended, with the number of calls that it answered.
  void ended(clock::time_point began, std::size_t answered);
  /// Whether few calls are made, and statements are short.
  [[nodiscard]] bool is_idle() const;
  /// To be called when a call begins or waits.
  void arrived();
  /// To be called before a statement. Waits for expected calls; returns whether it waited.
  bool linger(std::unique_lock<std::mutex>& lock);
  /// Reports a delay: `calls` have waited, and `joined` others have joined them.
  void lingered(std::size_t calls, std::size_t joined);

 private:
  const limits limits_;
  std::condition_variable all_arrived_;
  clock::time_point ended_at_;
  clock::duration took_{};
  std::size_t answered_ = 0;
  std::size_t expected_ = 0;
  unsigned skips_ = 0;  // delays to skip after one that was not worth it
  unsigned to_skip_ = 0;
};

}  // namespace rowlock::detail

#endif
