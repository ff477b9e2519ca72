// A terminal with a command in its foreground.
#ifndef ROWLOCK_TESTS_CLI_TERMINAL_HPP
#define ROWLOCK_TESTS_CLI_TERMINAL_HPP

#include <sys/types.h>

#include <string>

#include "cli/cli_test.hpp"

namespace rowlock::tests {

/// The command leads a session of its own on the terminal, as it does under ssh or docker.
class terminal {
 public:
  explicit terminal(const words& command);
  terminal(const terminal&) = delete;
  terminal& operator=(const terminal&) = delete;
  /// Hangs up, and kills the command.
  ~terminal();

  void type(const std::string& keys) const;
  /// What is shown from the last `end` to this one. Throws when it does not come in time.
  std::string read_until(const std::string& end);
  void send_signal(int number) const;
  /// Returns once it has stopped; SIGCONT lets it go on.
  void stop_command() const;
  /// The same of one that stops by itself.
  void await_stop() const;
  void hang_up();

 private:
  pid_t pid_ = -1;
  int screen_ = -1;
  std::string unread_;  // was shown after the last `end`
};

}  // namespace rowlock::tests

#endif
