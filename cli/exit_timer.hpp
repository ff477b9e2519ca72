// Ends the process when a database that hangs keeps it from ending by itself.
#ifndef ROWLOCK_CLI_EXIT_TIMER_HPP
#define ROWLOCK_CLI_EXIT_TIMER_HPP

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace rowlock::cli {

/// Calls of the library take as long as a store waits for an answer. Nothing is lost where the
/// process ends in the middle of one: what it holds, or is granted too late, runs out by itself.
///
/// Thread-safety: all members may be called from any thread.
class exit_timer {
 public:
  /// How long what is under way may take once the process is to end.
  static constexpr std::chrono::seconds grace{2};

  /// `message` is said when it ends the process. Throws `error` (unavailable) when the system lets
  /// us start no thread.
  explicit exit_timer(std::string message);
  exit_timer(const exit_timer&) = delete;
  exit_timer& operator=(const exit_timer&) = delete;
  /// Nothing ends the process any more.
  ~exit_timer();

  /// The process ends with `code` after this time. Replaces what was set before.
  void set(int code, std::chrono::milliseconds after = grace);
  /// It does not end.
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
