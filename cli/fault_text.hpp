// The text of a fault, for people.
#ifndef ROWLOCK_CLI_FAULT_TEXT_HPP
#define ROWLOCK_CLI_FAULT_TEXT_HPP

#include <string>
#include <system_error>

namespace rowlock::cli {

/// What an `error` says, without the words of its category: they are in the exit code, or in what
/// the command does next.
inline std::string fault_text(std::string what, const std::error_code& code) {
  const std::string category = ": " + code.message();
  if (what.ends_with(category)) what.resize(what.size() - category.size());
  return what;
}

}  // namespace rowlock::cli

#endif
