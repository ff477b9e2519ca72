// Search for the program of a command, before anything is locked for it.
#ifndef ROWLOCK_CLI_COMMAND_PATH_HPP
#define ROWLOCK_CLI_COMMAND_PATH_HPP

#include <stdexcept>
#include <string>

namespace rowlock::cli {

/// A command that cannot be run. `exit_code` is 126 or 127, as in shells, or 69 when the system
/// cannot start a process at all.
class command_error : public std::runtime_error {
 public:
  command_error(int exit_code, const std::string& message)
      : std::runtime_error{message}, exit_code_{exit_code} {}

  [[nodiscard]] int exit_code() const noexcept { return exit_code_; }

 private:
  int exit_code_;
};

/// The file that `name` stands for: with a slash in it, itself; otherwise the first executable file
/// of that name in the folders of PATH. Throws `command_error`.
std::string find_command(const std::string& name);

}  // namespace rowlock::cli

#endif
