// The text of a fault, for people.
#ifndef ROWLOCK_CLI_FAULT_TEXT_HPP
#define ROWLOCK_CLI_FAULT_TEXT_HPP

#include <string>
#include <system_error>

namespace rowlock::cli {

/// The message of an `error` without the words of its category: the exit code, or what the command
/// does next, says the same.
inline std::string fault_text(std::string what, const std::error_code& code) {
  const std::string category = ": " + code.message();
  if (what.ends_with(category)) what.resize(what.size() - category.size());
  return what;
}

}  // namespace rowlock::cli

#endif
