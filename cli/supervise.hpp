// Execution of a command under a lease: to its end, or to the end of the lease.
#ifndef ROWLOCK_CLI_SUPERVISE_HPP
#define ROWLOCK_CLI_SUPERVISE_HPP

#include <chrono>

#include "cli/child_process.hpp"
#include "cli/signal_queue.hpp"
#include "rowlock/lease.hpp"

namespace rowlock::cli {

struct command_end {
  /// The exit code of the command, or 128 + n when signal n ended it or came before it began.
  int exit_code;
  /// SIGINT, SIGTERM or SIGQUIT came to this process. (Many programs read their settings on
  /// SIGHUP.)
  bool was_end_requested;
  /// The lease was lost before the command had ended, and a message has reported that.
  bool was_notified_of_loss;
};

/// Passes signals on to the command. When the lease is lost it prints a message, sends SIGTERM, and
/// SIGKILL after `grace`. If the command has a process group of its own and leaves processes in it,
/// they get the same. The call then waits until they are gone. Throws `command_error`.
command_end supervise(const lease& held, const command& to_run, signal_queue& signals,
                      std::chrono::milliseconds grace);

}  // namespace rowlock::cli

#endif
