// Command-line options that name one key.
#ifndef ROWLOCK_CLI_KEY_OPTIONS_HPP
#define ROWLOCK_CLI_KEY_OPTIONS_HPP

#include <CLI/CLI.hpp>
#include <sstream>
#include <string>

#include "rowlock/lock_key.hpp"

namespace rowlock::cli {

struct key_options {
  lock_key key;

  void add_to(CLI::App& subcommand) {
    subcommand
        .add_option("--type", key.type, "What kind of thing is locked; within a scope: SCOPE/TYPE")
        ->type_name("TYPE")
        ->check(is_given)
        ->required();
    subcommand.add_option("--source", key.source_id, "Which one of them")
        ->type_name("SOURCE")
        ->check(is_given)
        ->required();
  }

  /// `type/source`.
  [[nodiscard]] std::string in_words() const {
    std::ostringstream words;
    words << key;
    return words.str();
  }

 private:
  /// The message for an empty value, after the name of its option.
  static std::string is_given(const std::string& value) {
    return value.empty() ? "is empty: write a value, perhaps a variable of your script has none"
                         : "";
  }
};

}  // namespace rowlock::cli

#endif
