// The command that runs under the lock, as a process.
#ifndef ROWLOCK_CLI_CHILD_PROCESS_HPP
#define ROWLOCK_CLI_CHILD_PROCESS_HPP

#include <sys/signalfd.h>
#include <sys/types.h>

#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include "cli/file_descriptor.hpp"

namespace rowlock::cli {

struct command {
  /// The file to run, as `find_command` gave it.
  std::string path;
  /// All of them: the first is the name by which it was called.
  std::vector<std::string> arguments;
  /// All variables, as `NAME=value`.
  std::vector<std::string> environment;
  /// It leads a session, and with it a process group.
  bool has_own_group = false;
};

/// Our variables with some added or replaced, as `NAME=value`.
std::vector<std::string> environment_with(const std::vector<std::string>& added);

/// A process in our process group, or in one of its own, with our standard input, output and error
/// and with whatever other descriptors we were given; those we opened are closed in it. The kernel
/// sends it SIGTERM when the thread that started it ends, so that it does not go on without its
/// lock when we are killed.
///
/// Thread-safety: one thread at a time, the one that made it, which must live until the command
/// ends.
class child_process {
 public:
  /// Starts the process, but not the command yet. Throws `command_error` (69) when the system
  /// starts none for us.
  child_process(const command& to_run, const sigset_t& mask);
  child_process(const child_process&) = delete;
  child_process& operator=(const child_process&) = delete;
  /// Kills what still runs, its group too, and waits for its end.
  ~child_process();

  /// Begins with the command. Throws `command_error` (126).
  void begin();

  /// Its exit code once it has ended: its own, or 128 + n when signal n ended it. Does not wait.
  std::optional<int> ended();

  /// Of one with a group of its own: whether processes of it are left that have not ended.
  [[nodiscard]] bool has_left_others() const;

  /// To the process, or to its group.
  void send(int number) const;

  /// Whether a signal that came to us has come to the process as well: a terminal signals its whole
  /// foreground group.
  [[nodiscard]] bool was_sent_too(const signalfd_siginfo& ours) const;

 private:
  void start_process(const command& to_run, const sigset_t& mask, int childs_link);

  std::string name_;
  pid_t pid_ = -1;
  pid_t group_ = -1;  // its own, if it has one
  std::optional<int> code_;
  /// To it: a byte that says go. From it: the errno of a failed exec, or nothing.
  file_descriptor link_;
};

}  // namespace rowlock::cli

#endif
