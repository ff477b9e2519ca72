// Time limit for the end of the process while a database hangs.
#ifndef ROWLOCK_CLI_EXIT_TIMER_HPP
#define ROWLOCK_CLI_EXIT_TIMER_HPP

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace rowlock::cli {

/// Ends the process at a deadline. A call of the library takes as long as a store waits for an
/// answer. Ending the process in the middle of one loses nothing: a lease it holds, or is granted
/// too late, runs out by itself.
///
/// Thread-safety: all members may be called from any thread.
class exit_timer {
 public:
  /// How long a call under way may take once the process is to end.
  static constexpr std::chrono::seconds grace{2};

  /// `message` is printed when it ends the process. Throws `error` (unavailable) when the system
  /// cannot start a thread.
  explicit exit_timer(std::string message);
  exit_timer(const exit_timer&) = delete;
  exit_timer& operator=(const exit_timer&) = delete;
  /// Cancels the deadline.
  ~exit_timer();

  /// The process ends with `code` after this time. Replaces an earlier deadline.
  void set(int code, std::chrono::milliseconds after = grace);
  /// Cancels the deadline.
  void clear();

 private:
  void run();

  const std::string message_;
  std::mutex mutex_;
  // All below are guarded by mutex_.
  std::condition_variable changed_;
  std::chrono::steady_clock::time_point due_ = std::chrono::steady_clock::time_point::max();
  int code_ = 0;
  bool is_over_ = false;

  std::thread thread_;
};

}  // namespace rowlock::cli

#endif
