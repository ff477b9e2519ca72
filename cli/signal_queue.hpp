// The signals that are meant for the command we run, as something to wait for with poll().
#ifndef ROWLOCK_CLI_SIGNAL_QUEUE_HPP
#define ROWLOCK_CLI_SIGNAL_QUEUE_HPP

#include <sys/signalfd.h>

#include <csignal>
#include <functional>
#include <optional>
#include <utility>

#include "cli/file_descriptor.hpp"

namespace rowlock::cli {

/// From its construction on, SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGCHLD wait here instead of
/// ending the process. Those that were ignored before (nohup, a shell's background job) stay
/// ignored. SIGPIPE is held back too: a closed standard error must not end us while we have a lock.
///
/// Make it before any other thread: threads started later inherit the blocked signals. It is not
/// undone; a command gets `original_mask()` back.
///
/// Thread-safety: one thread at a time.
class signal_queue {
 public:
  /// `with_stops`: SIGTSTP (Ctrl-Z) is answered by `next`, which stops the process.
  explicit signal_queue(bool with_stops = false);

  /// Is called with SIGSTOP before the process stops, and with SIGCONT when it goes on.
  void stop_with(std::function<void(int)> others) { others_ = std::move(others); }

  /// The next one that has come, if any; without waiting.
  std::optional<signalfd_siginfo> next();

  /// Readable when there is one.
  [[nodiscard]] int descriptor() const noexcept { return queue_.number(); }

  /// The blocked signals as they were before.
  [[nodiscard]] const sigset_t& original_mask() const noexcept { return original_mask_; }

 private:
  sigset_t original_mask_{};
  file_descriptor queue_;
  std::function<void(int)> others_ = [](int /*number*/) {};
};

}  // namespace rowlock::cli

#endif
