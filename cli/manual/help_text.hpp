// The structure of what a help text says after the options.
#ifndef ROWLOCK_CLI_MANUAL_HELP_TEXT_HPP
#define ROWLOCK_CLI_MANUAL_HELP_TEXT_HPP

#include <string>
#include <variant>
#include <vector>

namespace rowlock::cli {

struct paragraph {
  std::string text;
};

/// Indented lines in two columns. The second one goes on in lines that begin where it begins.
struct definition {
  std::string term;
  std::string text;
};

/// An indented line in one column, as it is.
struct literal_line {
  std::string text;
};

using help_block = std::variant<paragraph, definition, literal_line>;

/// Up to an empty line. `Exit codes: ...`, or a line that is a heading and a colon, begins a
/// section; what has no heading is one with an empty heading.
struct help_section {
  std::string heading;
  std::vector<help_block> blocks;
};

std::vector<help_section> sections_of(const std::string& footer);

}  // namespace rowlock::cli

#endif
