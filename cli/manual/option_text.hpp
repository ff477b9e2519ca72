// What the command tree knows of an option, for man pages and completion.
#ifndef ROWLOCK_CLI_MANUAL_OPTION_TEXT_HPP
#define ROWLOCK_CLI_MANUAL_OPTION_TEXT_HPP

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace rowlock::cli {

struct option_text {
  /// With their dashes, the short ones first. One without dashes for an argument with a place.
  std::vector<std::string> names;
  std::string description;
  /// The name of its value; empty for a flag.
  std::string value;
  /// All values that there are, if they are a few words.
  std::vector<std::string> words;
  std::string default_value;
  std::vector<std::string> needs;
  std::vector<std::string> excludes;
  bool has_place = false;
  bool is_required = false;
  bool is_repeatable = false;

  [[nodiscard]] bool takes_file() const { return value == "FILE"; }
};

/// All but hidden ones, in the order of the help text: those with a place are the first.
std::vector<option_text> options_of(const CLI::App& subcommand);

/// The usage line of the help text, without its first word.
std::string usage_of(const CLI::App& subcommand);

}  // namespace rowlock::cli

#endif
