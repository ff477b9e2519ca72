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
  /// With room for so many characters.
  terminal(const words& command, unsigned short lines, unsigned short columns);
  terminal(const terminal&) = delete;
  terminal& operator=(const terminal&) = delete;
  /// Hangs up, and kills the command.
  ~terminal();

  void type(const std::string& keys) const;
  /// What is shown from the last `end` to this one. Throws when it does not come in time.
  std::string read_until(const std::string& end);
  /// What is shown up to the end of the command. Throws when it does not end in time.
  std::string read_rest();
  /// The command gets SIGWINCH.
  void resize(unsigned short lines, unsigned short columns) const;
  void send_signal(int number) const;
  /// The exit code of the command, which has ended: 128 + n after signal n.
  int wait();
  /// Returns once it has stopped; SIGCONT lets it go on.
  void stop_command() const;
  /// The same of one that stops by itself.
  void await_stop() const;
  void hang_up();

 private:
  /// Reads once into `unread_`; false at the end, and when nothing came in time.
  bool read_more();

  pid_t pid_ = -1;
  int screen_ = -1;
  std::string unread_;  // was shown after the last `end`
};

}  // namespace rowlock::tests

#endif
