// What an error says, with all that is nested in it.
#ifndef ROWLOCK_TESTS_SUPPORT_CAUGHT_ERROR_HPP
#define ROWLOCK_TESTS_SUPPORT_CAUGHT_ERROR_HPP

#include <gtest/gtest.h>

#include <exception>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "rowlock/error.hpp"

namespace rowlock::tests {

/// What is thrown, and what is nested in it.
struct caught_error {
  errc kind{};
  std::vector<std::string> messages;

  [[nodiscard]] const std::string& message() const { return messages.front(); }
};

inline void collect_messages(const std::exception& thrown, std::vector<std::string>& messages) {
  messages.emplace_back(thrown.what());
  try {
    std::rethrow_if_nested(thrown);
  } catch (const std::exception& nested) {
    collect_messages(nested, messages);
  }
}

/// The error of `call`, which must throw one.
inline caught_error error_of(const std::function<void()>& call) {
  caught_error caught;
  try {
    call();
    ADD_FAILURE() << "no error";
    caught.messages.emplace_back();
  } catch (const error& thrown) {
    caught.kind = thrown.kind();
    collect_messages(thrown, caught.messages);
  }
  return caught;
}

/// Its kind; none if `call` throws no error of this library.
template <class Call>
std::optional<errc> kind_thrown_by(const Call& call) {
  try {
    call();
  } catch (const error& thrown) {
    return thrown.kind();
  }
  return std::nullopt;
}

inline void PrintTo(errc shown, std::ostream* out) { *out << make_error_code(shown).message(); }

}  // namespace rowlock::tests

#endif
