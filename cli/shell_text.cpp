// Escapes and templates of shell scripts.
#include "cli/shell_text.hpp"

namespace rowlock::cli {

std::string escaped(std::string_view text, std::string_view characters) {
  std::string result;
  for (const char c : text) {
    if (characters.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

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

std::string filled(std::string_view script, std::string_view mark, std::string_view text) {
  std::string result{script};
  const std::string line = std::string{mark} + '\n';
  return result.replace(result.find(line), line.size(), text);
}

}  // namespace rowlock::cli
