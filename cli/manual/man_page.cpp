// Writer of man pages: what --help says, in the sections that such pages have.
#include "cli/manual/man_page.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <string_view>

#include "cli/choice.hpp"
#include "cli/command_tree.hpp"
#include "cli/manual/help_text.hpp"
#include "cli/manual/option_text.hpp"
#include "cli/manual/roff.hpp"

namespace rowlock::cli {

namespace {

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string sentence(const std::string& text) { return text.ends_with('.') ? text : text + '.'; }

std::string section(const std::string& name) { return ".SH " + roff_text(name) + '\n'; }

std::string section_name_of(const std::string& heading) {
  if (heading.empty()) return "DESCRIPTION";
  if (heading.starts_with("Exit code")) return "EXIT STATUS";
  return heading == "Example" ? "EXAMPLES" : upper(heading);
}

/// Blocks of one section, with the requests that separate those of different kinds.
class block_writer {
 public:
  void operator()(const paragraph& block) {
    end_literal();
    roff_ += ".PP\n" + roff_paragraph(block.text);
  }
  void operator()(const definition& block) {
    end_literal();
    roff_ += ".TP\n" + roff_bold(block.term) + '\n' + roff_paragraph(block.text);
  }
  void operator()(const literal_line& block) {
    if (!is_literal_) roff_ += ".PP\n.RS 4\n.nf\n";
    is_literal_ = true;
    roff_ += roff_line(block.text) + '\n';
  }

  std::string roff() && {
    end_literal();
    return std::move(roff_);
  }

 private:
  void end_literal() {
    if (is_literal_) roff_ += ".fi\n.RE\n";
    is_literal_ = false;
  }

  std::string roff_;
  bool is_literal_ = false;
};

std::string blocks_in(const help_section& part) {
  block_writer writer;
  for (const auto& block : part.blocks) std::visit(writer, block);
  auto roff = std::move(writer).roff();
  // A section begins with a paragraph anyway.
  constexpr std::string_view needless = ".PP\n";
  if (!part.heading.empty() && roff.starts_with(needless)) roff.erase(0, needless.size());
  return roff;
}

std::string description_of(const std::vector<help_section>& parts, const std::string& summary) {
  std::string roff = section("DESCRIPTION") + roff_paragraph(sentence(summary));
  for (const auto& part : parts) {
    if (part.heading.empty()) roff += blocks_in(part);
  }
  return roff;
}

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
  const auto parts = sections_of(command.get_footer());
  std::string roff = ".TH " + roff_text(upper(name)) + " 1 \"" + date +
                     "\" \"rowlock " ROWLOCK_VERSION "\" \"rowlock\"\n.nh\n.ad l\n";
  roff += section("NAME") + roff_text(name + " - " + command.get_description()) + '\n';
  roff += section("SYNOPSIS") + roff_paragraph(usage_of(command));
  roff += description_of(parts, command.get_description());
  roff += commands_of(command) + section("OPTIONS");
  for (const auto& option : options_of(command)) roff += option_in_roff(option);
  for (const auto& part : parts) {
    if (!part.heading.empty()) roff += section(section_name_of(part.heading)) + blocks_in(part);
  }
  if (command.get_parent() != nullptr) {
    roff += section("SEE ALSO") + roff_bold(page_name_of(*command.get_parent())) + "(1)\n";
  }
  return roff;
}

}  // namespace rowlock::cli
