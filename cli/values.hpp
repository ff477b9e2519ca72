// Values of options: whole numbers, and one of a few words.
#ifndef ROWLOCK_CLI_VALUES_HPP
#define ROWLOCK_CLI_VALUES_HPP

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "rowlock/error.hpp"

namespace rowlock::cli {

/// None unless all of `text` is a number of this type, in decimal digits.
template <class Number>
std::optional<Number> whole_number(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, number);
  if (failure != std::errc{} || rest != end) return {};
  return number;
}

/// The fault of a command line. The message says what to write instead.
template <class... Values>
error misuse(fmt::format_string<const Values&...> message, const Values&... values) {
  return {errc::misuse, fmt::format(message, values...)};
}

/// The value of --limit; `what` it counts is for the message. Throws `error` (misuse).
inline std::size_t parse_limit(std::string_view text, std::string_view what) {
  const auto limit = whole_number<std::size_t>(text).value_or(0);
  if (limit > 0) return limit;
  throw misuse("--limit is no number of {}: write a whole number from 1 on", what);
}

template <class Value, std::size_t Size>
using choices = std::array<std::pair<std::string_view, Value>, Size>;

template <class Value, std::size_t Size>
std::vector<std::string> words_of(const choices<Value, Size>& known) {
  std::vector<std::string> words;
  for (const auto& [word, value] : known) words.emplace_back(word);
  return words;
}

/// `a, b or c`; there is a word.
inline std::string one_of(const std::vector<std::string>& words) {
  return fmt::format("{}{}{}", fmt::join(words.begin(), words.end() - 1, ", "),
                     words.size() > 1 ? " or " : "", words.back());
}

/// The words in the form of CLI11's own checks. It is all that the tree knows: `chosen_of` checks,
/// so that no message shows the text.
template <class Value, std::size_t Size>
std::string type_name_of(std::string_view name, const choices<Value, Size>& known) {
  return fmt::format("{}:{{{}}}", name, fmt::join(words_of(known), ","));
}

/// The value of `text`. Throws `error` (misuse) that lists the words, and does not show the text:
/// it may be a URL with a password.
template <class Value, std::size_t Size>
Value chosen_of(std::string_view option, std::string_view text, const choices<Value, Size>& known) {
  for (const auto& [word, value] : known) {
    if (word == text) return value;
  }
  throw misuse("{} has an unknown value: write {}", option, one_of(words_of(known)));
}

}  // namespace rowlock::cli

#endif
