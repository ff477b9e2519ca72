// Values of options that are one of a few words.
#ifndef ROWLOCK_CLI_CHOICE_HPP
#define ROWLOCK_CLI_CHOICE_HPP

#include <CLI/CLI.hpp>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rowlock/error.hpp"

namespace rowlock::cli {

template <class Value, std::size_t Size>
using choices = std::array<std::pair<std::string_view, Value>, Size>;

template <class Value, std::size_t Size>
std::vector<std::string> words_of(const choices<Value, Size>& known) {
  std::vector<std::string> words;
  for (const auto& [word, value] : known) words.emplace_back(word);
  return words;
}

/// `a, b or c`.
inline std::string one_of(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (at > 0) text += at + 1 == words.size() ? " or " : ", ";
    text += words[at];
  }
  return text;
}

/// The words in the form of CLI11's own checks. It is all that the tree knows: `chosen_of` checks,
/// so that no message shows the text.
template <class Value, std::size_t Size>
std::string type_name_of(std::string_view name, const choices<Value, Size>& known) {
  return std::string{name} + ':' + CLI::IsMember{words_of(known)}.get_description();
}

/// The value of `text`. Throws `error` (misuse) that lists the words, and does not show the text:
/// it may be a URL with a password.
template <class Value, std::size_t Size>
Value chosen_of(std::string_view option, std::string_view text, const choices<Value, Size>& known) {
  for (const auto& [word, value] : known) {
    if (word == text) return value;
  }
  throw error{errc::misuse,
              std::string{option} + " has an unknown value: write " + one_of(words_of(known))};
}

}  // namespace rowlock::cli

#endif
