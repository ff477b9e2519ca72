// Queue of signals for the command, usable with poll().
#ifndef ROWLOCK_CLI_SIGNAL_QUEUE_HPP
#define ROWLOCK_CLI_SIGNAL_QUEUE_HPP

#include <sys/signalfd.h>

#include <csignal>
#include <functional>
#include <initializer_list>
#include <optional>

#include "cli/file_descriptor.hpp"

namespace rowlock::cli {

/// From its construction on, SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGCHLD wait here and do not end
/// the process. Signals that were ignored before (nohup, a shell's background job) stay ignored.
/// SIGPIPE is blocked too: a closed standard error must not end the process while it has a lock.
///
/// Make it before any other thread: threads started later inherit the blocked signals. The
/// destructor does not restore the mask; a command gets `original_mask()` back.
///
/// Thread-safety: one thread at a time.
class signal_queue {
 public:
  /// `with_stops`: `next` handles SIGTSTP (Ctrl-Z) and stops the process.
  /// `more`: signals that wait here, too.
  explicit signal_queue(bool with_stops = false, std::initializer_list<int> more = {});

  /// The next signal that has come, if any; does not wait. `others` is called with SIGSTOP before
  /// the process stops, and with SIGCONT when it goes on.
  std::optional<signalfd_siginfo> next(const std::function<void(int)>& others = [](int) {});

  /// Readable when a signal has come.
  [[nodiscard]] int descriptor() const noexcept { return queue_.number(); }

  /// The mask before the construction.
  [[nodiscard]] const sigset_t& original_mask() const noexcept { return original_mask_; }

 private:
  sigset_t original_mask_{};
  file_descriptor queue_;
};

}  // namespace rowlock::cli

#endif
