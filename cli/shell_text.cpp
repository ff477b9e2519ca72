// Quotes of shells, and lists of words.
#include "cli/shell_text.hpp"

namespace rowlock::cli {

std::string in_shell_quotes(std::string_view text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string{"'\\''"} : std::string{c};
  return result + '\'';
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (const auto& word : words) {
    if (!text.empty()) text += between;
    text += word;
  }
  return text;
}

}  // namespace rowlock::cli
