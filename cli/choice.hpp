// Values of options that are one of a few words.
#ifndef ROWLOCK_CLI_CHOICE_HPP
#define ROWLOCK_CLI_CHOICE_HPP

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "rowlock/error.hpp"

namespace rowlock::cli {

template <class Value, std::size_t Size>
using choices = std::array<std::pair<std::string_view, Value>, Size>;

/// The value of `text`. Throws `error` (misuse) that lists the words, and does not show the text:
/// it may be a URL with a password.
template <class Value, std::size_t Size>
Value chosen_of(std::string_view option, std::string_view text, const choices<Value, Size>& known) {
  std::string words;
  for (std::size_t at = 0; at < Size; ++at) {
    if (known[at].first == text) return known[at].second;
    if (at > 0) words += at + 1 == Size ? " or " : ", ";
    words += known[at].first;
  }
  throw error{errc::misuse, std::string{option} + " is none of its words: write " + words};
}

}  // namespace rowlock::cli

#endif
