// A child process: the command that runs under the lock.
#ifndef ROWLOCK_CLI_CHILD_PROCESS_HPP
#define ROWLOCK_CLI_CHILD_PROCESS_HPP

#include <sys/signalfd.h>
#include <sys/types.h>
#include <unistd.h>

#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include "cli/file_descriptor.hpp"

namespace rowlock::cli {

struct command {
  /// The file to run, as `find_command` returned it.
  std::string path;
  /// All of them: the first is the name by which it was called.
  std::vector<std::string> arguments;
  /// All variables, as `NAME=value`.
  std::vector<std::string> environment;
  /// It leads a session, and with it a process group.
  bool has_own_group = false;
  /// Descriptors of this process.
  int output = STDOUT_FILENO;
  int errors = STDERR_FILENO;
};

/// The variables of this process with some added or replaced, as `NAME=value`.
std::vector<std::string> environment_with(const std::vector<std::string>& added);

/// Whether a live process of `group` is left, of this user or another. A process that has ended and
/// waits for its parent to reap it does not count: it does nothing, and that parent may never reap
/// it.
///
/// If the kernel shows no process of a group, all of them count. If it shows some and hides others
/// (hidepid), only those that it shows count.
///
/// Cost: a system call when the group is gone; otherwise reads `/proc`, up to three times.
/// Thread-safe.
bool has_living_process(pid_t group);

/// A process in the group of this one, or in a group of its own. It has the standard input, output
/// and error of this process, and the other descriptors that this process inherited. Descriptors
/// that this process opened are closed in it. When the thread that started it ends, the kernel
/// sends it SIGTERM. So it does not go on without its lock when this process is killed.
///
/// Thread-safety: one thread at a time, the one that made it, which must live until the command
/// ends.
class child_process {
 public:
  /// Starts the process, but not the command yet. Throws `command_error` (69) when the system
  /// cannot start a process.
  child_process(const command& to_run, const sigset_t& mask);
  child_process(const child_process&) = delete;
  child_process& operator=(const child_process&) = delete;
  /// Kills what still runs, its group too, and waits for its end.
  ~child_process();

  /// Starts the command. Does not wait: signals reach the process before its command runs, too.
  void begin() const;

  /// The exit code once the command has ended: its own, or 128 + n when signal n ended it. Does not
  /// wait. Throws `command_error` (126) if the command could not be run.
  std::optional<int> ended();

  /// Whether live processes are left in the command's own group, if it has one.
  [[nodiscard]] bool has_left_others() const;

  /// Sends a signal to the process, or to its group.
  void send(int number) const;

  /// Whether the process got the same signal as this one: a terminal signals its whole foreground
  /// group.
  [[nodiscard]] bool was_sent_too(const signalfd_siginfo& ours) const;

 private:
  void require_started();

  std::string name_;
  pid_t pid_ = -1;
  pid_t group_ = -1;  // its own, if it has one
  std::optional<int> code_;
  /// The parent writes one byte to start the command. The child writes the errno of a failed exec,
  /// or nothing.
  file_descriptor link_;
};

}  // namespace rowlock::cli

#endif
