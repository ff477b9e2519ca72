// Time limit for the end of the process while a database hangs, and signals that set it.
#ifndef ROWLOCK_CLI_EXIT_TIMER_HPP
#define ROWLOCK_CLI_EXIT_TIMER_HPP

#include <chrono>
#include <condition_variable>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "cli/file_descriptor.hpp"
#include "cli/signal_queue.hpp"
#include "rowlock/detail/checked_mutex.hpp"

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

  /// The process ends with `code` after this time. Replaces an earlier deadline.
  void set(int code, std::chrono::milliseconds after = grace);
  /// Cancels the deadline, as the destructor does.
  void clear();

 private:
  using clock = std::chrono::steady_clock;

  void change(clock::time_point due, int code);
  void run(const std::stop_token& over);

  const std::string message_;
  detail::checked_mutex mutex_;
  std::condition_variable_any changed_;
  clock::time_point due_ ROWLOCK_GUARDED_BY(mutex_) = clock::time_point::max();
  int code_ ROWLOCK_GUARDED_BY(mutex_) = 0;

  std::jthread thread_;  // last: it uses all of the above
};

/// Reads `signals` in a thread of its own until `end()`. The first one requests `stop`, which
/// several waits may share, and starts the time limit for the process to end by itself.
///
/// Thread-safety: one thread at a time.
class interruptible_wait {
 public:
  /// `code` is the exit code after a signal; none: 128 + that signal. Throws `error` (unavailable)
  /// when the system cannot start a thread.
  interruptible_wait(signal_queue& signals, exit_timer& timer, std::stop_source stop = {},
                     std::optional<int> code = {});
  interruptible_wait(const interruptible_wait&) = delete;
  interruptible_wait& operator=(const interruptible_wait&) = delete;
  ~interruptible_wait() { end(); }

  [[nodiscard]] std::stop_token stop() const { return stop_.get_token(); }

  /// Ends the thread, and returns the signal that it has read, if any.
  std::optional<int> end();

 private:
  void listen();

  signal_queue& signals_;
  exit_timer& timer_;
  std::stop_source stop_;
  const std::optional<int> code_;
  wakeup done_;
  std::optional<int> came_;  // written by listener_, read after its end
  std::thread listener_;     // last: it uses all of the above
};

}  // namespace rowlock::cli

#endif
