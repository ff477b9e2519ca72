// Confirmation prompt for actions that cannot be undone.
#ifndef ROWLOCK_CLI_CONFIRMATION_HPP
#define ROWLOCK_CLI_CONFIRMATION_HPP

#include <CLI/CLI.hpp>
#include <string>

namespace rowlock::cli {

class confirmation {
 public:
  void add_to(CLI::App& subcommand) {
    subcommand.add_flag("--yes", is_given_, "Do it without a question; needed without a terminal");
  }

  /// Throws `error` (misuse) if there is neither a confirmation yet nor a terminal to prompt on.
  void require_terminal() const;

  /// Prompts unless the confirmation is given already. Everything but `y` and `yes`, in capitals or
  /// not, means no; so does the end of input.
  [[nodiscard]] bool is_given_for(const std::string& question) const;

 private:
  bool is_given_ = false;
};

}  // namespace rowlock::cli

#endif
