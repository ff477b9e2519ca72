// Asks before something is done that cannot be undone.
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

  /// Throws `error` (misuse) if it is neither given already nor anybody there to give it.
  void require_somebody() const;

  /// Asks, unless it is given already. Everything but `y` and `yes`, in capitals or not, is no; so
  /// is the end of input.
  [[nodiscard]] bool is_given_for(const std::string& question) const;

 private:
  bool is_given_ = false;
};

}  // namespace rowlock::cli

#endif
