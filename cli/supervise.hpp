// Runs a command under a lease: to its end, or to the end of the lease.
#ifndef ROWLOCK_CLI_SUPERVISE_HPP
#define ROWLOCK_CLI_SUPERVISE_HPP

#include <chrono>

#include "cli/child_process.hpp"
#include "cli/signal_queue.hpp"
#include "rowlock/lease.hpp"

namespace rowlock::cli {

struct command_end {
  /// The command's own, or 128 + n when signal n ended it or came before it began.
  int exit_code;
  /// SIGINT, SIGTERM or SIGQUIT came to us. (SIGHUP tells many programs to read their settings.)
  bool was_asked_to_end;
  /// The lease was lost, and that was said, before the command had ended.
  bool was_told_of_loss;
};

/// Passes signals on to the command. When the lease is lost, says so, sends SIGTERM, and SIGKILL
/// after `grace`; the same to what the command has left of a process group of its own when it
/// ended, until that is gone. Throws `command_error`.
command_end supervise(const lease& held, const command& to_run, signal_queue& signals,
                      std::chrono::milliseconds grace);

}  // namespace rowlock::cli

#endif
