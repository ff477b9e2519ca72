// Writer of man pages: what --help says, in the sections that such pages have.
#include "cli/manual/man_page.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command_tree.hpp"
#include "cli/manual/option_text.hpp"
#include "cli/values.hpp"

namespace rowlock::cli {

namespace {

/// Characters that all stand for themselves: no dash becomes a hyphen, and no quote a curly one.
std::string roff_text(std::string_view text) {
  static constexpr auto escapes =
      std::to_array<std::pair<char, std::string_view>>({{'\\', "\\e"},
                                                        {'-', "\\-"},
                                                        {'\'', "\\(aq"},
                                                        {'`', "\\(ga"},
                                                        {'^', "\\(ha"},
                                                        {'~', "\\(ti"}});
  std::string escaped;
  for (const char c : text) {
    const auto* const found = std::find_if(escapes.begin(), escapes.end(),
                                           [c](const auto& escape) { return escape.first == c; });
    escaped += found == escapes.end() ? std::string_view{&c, 1} : found->second;
  }
  return escaped;
}

/// The same as a whole line, which is no request. A quote at its beginning is escaped anyway.
std::string roff_line(std::string_view text) {
  return (text.starts_with('.') ? "\\&" : "") + roff_text(text);
}

std::string roff_bold(std::string_view text) { return "\\fB" + roff_text(text) + "\\fR"; }
std::string roff_italic(std::string_view text) { return "\\fI" + roff_text(text) + "\\fR"; }

/// Lines of at most 80 characters, each with its end.
std::string roff_paragraph(const std::string& text) {
  constexpr std::size_t widest = 80;
  std::string lines;
  std::string line;
  std::istringstream words{text};
  for (std::string word; words >> word;) {
    if (!line.empty() && roff_line(line).size() + 1 + roff_text(word).size() > widest) {
      lines += roff_line(std::exchange(line, {})) + '\n';
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return line.empty() ? lines : lines + roff_line(line) + '\n';
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string sentence(const std::string& text) { return text.ends_with('.') ? text : text + '.'; }

std::string section(const std::string& name) { return ".SH " + roff_text(name) + '\n'; }

/// Takes the heading away from the first line of a section; empty if there is none.
std::string take_heading(std::string& line) {
  const auto colon = line.find(':');
  if (colon == std::string::npos || std::isupper(static_cast<unsigned char>(line.front())) == 0) {
    return {};
  }
  auto heading = line.substr(0, colon);
  const bool is_exit_code = heading.starts_with("Exit code");
  if (colon + 1 != line.size() && !is_exit_code) return {};
  line.erase(0, std::min(line.size(), colon + 2));
  if (!line.empty()) line.replace(0, 1, upper(line.substr(0, 1)));
  if (is_exit_code) return "EXIT STATUS";
  return heading == "Example" ? "EXAMPLES" : upper(heading);
}

/// What a help text says behind the options. Sections are divided by empty lines; `Exit codes:`, or
/// a line that is a heading and a colon, begins one with a heading. Within them, lines that are
/// indented are a term and its text in two columns, or else stay as they are; others are a
/// paragraph.
class footer_parser {
 public:
  struct section_text {
    std::string heading;
    std::string roff;
  };

  static std::vector<section_text> sections_of(const std::string& footer) {
    footer_parser parser;
    std::istringstream lines{footer};
    for (std::string line; std::getline(lines, line);) parser.add(line);
    parser.end_block();
    return std::move(parser.sections_);
  }

 private:
  void add(std::string line) {
    if (line.empty()) {
      end_block();
      is_in_section_ = false;
      return;
    }
    if (!std::exchange(is_in_section_, true)) {
      sections_.push_back({take_heading(line), {}});
      if (line.empty()) return;
    }
    const auto indent = line.find_first_not_of(' ');
    const auto gap = line.find("  ", indent);
    if (!text_.empty() && indent == text_column_) {
      text_ += ' ' + line.substr(indent);
    } else if (indent == 0) {
      begin_block(".PP\n", line, 0);
    } else if (gap != std::string::npos) {
      const auto column = line.find_first_not_of(' ', gap);
      const auto term = line.substr(indent, gap - indent);
      begin_block(".TP\n" + roff_bold(term) + '\n', line.substr(column), column);
    } else {
      if (!is_literal_) begin_block(".PP\n.RS 4\n.nf\n", {}, 0);
      is_literal_ = true;
      sections_.back().roff += roff_line(line.substr(indent)) + '\n';
    }
  }

  void begin_block(std::string begin, std::string text, std::size_t column) {
    end_block();
    auto& section = sections_.back();
    // A section begins with a paragraph anyway.
    constexpr std::string_view needless = ".PP\n";
    const bool is_first = !section.heading.empty() && section.roff.empty();
    if (is_first && begin.starts_with(needless)) begin.erase(0, needless.size());
    section.roff += begin;
    text_ = std::move(text);
    text_column_ = column;
  }

  void end_block() {
    if (sections_.empty()) return;
    sections_.back().roff += roff_paragraph(std::exchange(text_, {}));
    if (std::exchange(is_literal_, false)) sections_.back().roff += ".fi\n.RE\n";
  }

  std::vector<section_text> sections_;
  bool is_in_section_ = false;
  /// Of the paragraph or the definition that goes on where a line begins in this column.
  std::string text_;
  std::size_t text_column_ = 0;
  bool is_literal_ = false;
};

std::string rules_of(const option_text& option) {
  std::string rules;
  if (!option.words.empty()) rules += " Write " + one_of(option.words) + '.';
  if (!option.default_value.empty()) rules += " The default is " + option.default_value + '.';
  if (option.is_required) rules += " Required.";
  if (option.is_repeatable) rules += " May be repeated.";
  if (!option.needs.empty()) rules += " Needs " + one_of(option.needs) + '.';
  if (!option.excludes.empty()) rules += " Not together with " + one_of(option.excludes) + '.';
  return rules;
}

std::string option_in_roff(const option_text& option) {
  std::string names;
  for (const auto& name : option.names) {
    names += names.empty() ? "" : ", ";
    names += option.has_place ? roff_italic(name) : roff_bold(name);
  }
  if (!option.value.empty() && !option.has_place) names += ' ' + roff_italic(option.value);
  return ".TP\n" + names + '\n' + roff_paragraph(sentence(option.description) + rules_of(option));
}

std::string commands_of(const CLI::App& command) {
  std::string roff;
  for (const auto* each : subcommands_of(command)) {
    roff += ".TP\n" + roff_bold(page_name_of(*each)) + "(1)\n" +
            roff_paragraph(sentence(each->get_description()));
  }
  return roff.empty() ? roff : section("COMMANDS") + roff;
}

}  // namespace

std::string page_name_of(const CLI::App& command) {
  const auto* parent = command.get_parent();
  return (parent == nullptr ? "" : parent->get_name() + '-') + command.get_name();
}

std::string man_page_of(const CLI::App& command, const std::string& date) {
  const auto name = page_name_of(command);
  const auto parts = footer_parser::sections_of(command.get_footer());
  std::string roff = ".TH " + roff_text(upper(name)) + " 1 \"" + date +
                     "\" \"rowlock " ROWLOCK_VERSION "\" \"rowlock\"\n.nh\n.ad l\n";
  roff += section("NAME") + roff_text(name + " - " + command.get_description()) + '\n';
  roff += section("SYNOPSIS") + roff_paragraph(usage_of(command));
  roff += section("DESCRIPTION") + roff_paragraph(sentence(command.get_description()));
  for (const auto& part : parts) {
    if (part.heading.empty()) roff += part.roff;
  }
  roff += commands_of(command) + section("OPTIONS");
  for (const auto& option : options_of(command)) roff += option_in_roff(option);
  for (const auto& part : parts) {
    if (!part.heading.empty()) roff += section(part.heading) + part.roff;
  }
  if (command.get_parent() != nullptr) {
    roff += section("SEE ALSO") + roff_bold(page_name_of(*command.get_parent())) + "(1)\n";
  }
  return roff;
}

}  // namespace rowlock::cli
