// Finds the program that a command names, before anything is locked for it.
#ifndef ROWLOCK_CLI_COMMAND_PATH_HPP
#define ROWLOCK_CLI_COMMAND_PATH_HPP

#include <stdexcept>
#include <string>

namespace rowlock::cli {

/// A command that cannot be run; `exit_code` is 126 or 127, as shells have it, or 69 when the
/// system starts no process at all.
class command_error : public std::runtime_error {
 public:
  command_error(int exit_code, const std::string& message)
      : std::runtime_error{message}, exit_code_{exit_code} {}

  [[nodiscard]] int exit_code() const noexcept { return exit_code_; }

 private:
  int exit_code_;
};

/// The file that `name` stands for: itself with a slash in it, otherwise the first executable file
/// of that name in the folders of PATH. Throws `command_error`.
std::string find_command(const std::string& name);

}  // namespace rowlock::cli

#endif
