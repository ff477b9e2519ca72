// Wait for a lock that a signal can end.
#ifndef ROWLOCK_CLI_INTERRUPTIBLE_WAIT_HPP
#define ROWLOCK_CLI_INTERRUPTIBLE_WAIT_HPP

#include <optional>
#include <stop_token>
#include <thread>

#include "cli/exit_timer.hpp"
#include "cli/signal_queue.hpp"
#include "cli/wakeup.hpp"

namespace rowlock::cli {

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
  ~interruptible_wait();

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
