// Lets a signal end the wait for the lock.
#ifndef ROWLOCK_CLI_INTERRUPTIBLE_WAIT_HPP
#define ROWLOCK_CLI_INTERRUPTIBLE_WAIT_HPP

#include <optional>
#include <stop_token>
#include <thread>

#include "cli/exit_timer.hpp"
#include "cli/signal_queue.hpp"
#include "cli/wakeup.hpp"

namespace rowlock::cli {

/// Reads `signals` in a thread of its own until `end()`; the first one requests `stop`, which
/// several waits may share, and starts the time that is left for the process to end by itself.
///
/// Thread-safety: one thread at a time.
class interruptible_wait {
 public:
  /// `code`: with which the process ends then; none: as ended by that signal. Throws `error`
  /// (unavailable) when the system lets us start no thread.
  interruptible_wait(signal_queue& signals, exit_timer& timer, std::stop_source stop = {},
                     std::optional<int> code = {});
  interruptible_wait(const interruptible_wait&) = delete;
  interruptible_wait& operator=(const interruptible_wait&) = delete;
  ~interruptible_wait();

  [[nodiscard]] std::stop_token stop() const { return stop_.get_token(); }

  /// Gives the signals back to the caller, and says which one came meanwhile.
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
