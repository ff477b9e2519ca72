// Escapes for roff.
#include "cli/manual/roff.hpp"

#include <sstream>

namespace rowlock::cli {

std::string roff_text(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '\\':
        escaped += "\\e";
        break;
      case '-':
        escaped += "\\-";
        break;
      case '\'':
        escaped += "\\(aq";
        break;
      case '`':
        escaped += "\\(ga";
        break;
      case '^':
        escaped += "\\(ha";
        break;
      case '~':
        escaped += "\\(ti";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string roff_line(std::string_view text) {
  // A quote is escaped anyway.
  return (text.starts_with('.') ? "\\&" : "") + roff_text(text);
}

std::string roff_bold(std::string_view text) { return "\\fB" + roff_text(text) + "\\fR"; }
std::string roff_italic(std::string_view text) { return "\\fI" + roff_text(text) + "\\fR"; }

std::string roff_paragraph(std::string_view text) {
  constexpr std::size_t widest = 80;
  std::string lines;
  std::string line;
  std::istringstream words{std::string{text}};
  for (std::string word; words >> word;) {
    if (!line.empty() && roff_line(line).size() + 1 + roff_text(word).size() > widest) {
      lines += roff_line(line) + '\n';
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line += word;
  }
  return line.empty() ? lines : lines + roff_line(line) + '\n';
}

}  // namespace rowlock::cli
