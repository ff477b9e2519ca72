// Parser of help texts.
#include "cli/manual/help_text.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string_view>

namespace rowlock::cli {

namespace {

constexpr std::size_t nowhere = std::string::npos;

/// Takes the heading away from `line`; empty if there is none.
std::string take_heading(std::string& line) {
  const auto colon = line.find(':');
  if (colon == nowhere || std::isupper(static_cast<unsigned char>(line.front())) == 0) return {};
  auto heading = line.substr(0, colon);
  const bool stands_alone = colon + 1 == line.size();
  if (!stands_alone && heading != "Exit code" && heading != "Exit codes") return {};
  line.erase(0, std::min(line.size(), colon + 2));
  if (!line.empty()) {
    line.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(line.front())));
  }
  return heading;
}

class section_parser {
 public:
  /// The first line of a section may have its heading.
  void begin(std::string line) {
    sections_.push_back({take_heading(line), {}});
    if (!line.empty()) add(line);
  }

  void add(const std::string& line) {
    const auto indent = line.find_first_not_of(' ');
    if (indent == 0) {
      add_text(line);
    } else if (indent == text_column_ && last_as<definition>() != nullptr) {
      last_as<definition>()->text += ' ' + line.substr(indent);
    } else {
      add_indented(line, indent);
    }
  }

  std::vector<help_section> sections() && { return std::move(sections_); }

 private:
  template <class Block>
  Block* last_as() {
    auto& blocks = sections_.back().blocks;
    return blocks.empty() ? nullptr : std::get_if<Block>(&blocks.back());
  }

  void add_text(const std::string& line) {
    if (auto* last = last_as<paragraph>()) {
      last->text += ' ' + line;
    } else {
      sections_.back().blocks.emplace_back(paragraph{line});
    }
  }

  void add_indented(const std::string& line, std::size_t indent) {
    const auto gap = line.find("  ", indent);
    auto& blocks = sections_.back().blocks;
    if (gap == nowhere) {
      blocks.emplace_back(literal_line{line.substr(indent)});
      return;
    }
    text_column_ = line.find_first_not_of(' ', gap);
    blocks.emplace_back(definition{line.substr(indent, gap - indent), line.substr(text_column_)});
  }

  std::vector<help_section> sections_;
  std::size_t text_column_ = nowhere;
};

}  // namespace

std::vector<help_section> sections_of(const std::string& footer) {
  section_parser parser;
  std::istringstream lines{footer};
  bool is_first = true;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) {
      is_first = true;
    } else if (is_first) {
      parser.begin(line);
      is_first = false;
    } else {
      parser.add(line);
    }
  }
  return std::move(parser).sections();
}

}  // namespace rowlock::cli
