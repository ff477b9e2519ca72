// The text of a fault, for people.
#ifndef ROWLOCK_CLI_FAULT_TEXT_HPP
#define ROWLOCK_CLI_FAULT_TEXT_HPP

#include <exception>
#include <string>
#include <system_error>

#include "cli/say.hpp"
#include "rowlock/error.hpp"

namespace rowlock::cli {

/// The message of an `error` without the words of its category: the exit code, or what the command
/// does next, says the same.
inline std::string fault_text(std::string what, const std::error_code& code) {
  const std::string category = ": " + code.message();
  if (what.ends_with(category)) what.resize(what.size() - category.size());
  return what;
}

/// The first line of the driver's message, in brackets, unless `message` contains it already.
inline std::string cause_of(const error& fault, const std::string& message) {
  try {
    std::rethrow_if_nested(fault);
  } catch (const std::exception& nested) {
    std::string cause = nested.what();
    cause = cause.substr(0, cause.find('\n'));
    if (message.find(cause) == std::string::npos) return " (" + cause + ')';
  }
  return {};
}

/// The message of a fault, and its cause.
inline std::string fault_text(const error& fault) {
  const std::string message = fault_text(fault.what(), fault.code());
  return message + cause_of(fault, message);
}

/// The message of any fault without passwords, for texts that leave by another way than `say`.
inline std::string shown_fault(const std::exception& fault) {
  const auto* const known = dynamic_cast<const error*>(&fault);
  return without_passwords(known == nullptr ? fault.what()
                                            : fault_text(known->what(), known->code()));
}

}  // namespace rowlock::cli

#endif
