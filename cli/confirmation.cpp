// Confirmation prompt for actions that cannot be undone.
#include "cli/confirmation.hpp"

#include <unistd.h>

#include <cctype>
#include <iostream>

#include "cli/printable.hpp"
#include "rowlock/error.hpp"

namespace rowlock::cli {

void confirmation::require_terminal() const {
  const bool has_terminal = isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1;
  if (is_given_ || has_terminal) return;
  throw error{errc::misuse, "there is no terminal to ask on: add --yes if you are sure"};
}

bool confirmation::is_given_for(const std::string& question) const {
  if (is_given_) return true;
  std::cerr << printable(question) + " [y/N] ";
  std::string answer;
  std::getline(std::cin, answer);
  for (char& letter : answer) {
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return answer == "y" || answer == "yes";
}

}  // namespace rowlock::cli
