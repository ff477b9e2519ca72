// The options that name one key.
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
        ->required();
    subcommand.add_option("--source", key.source_id, "Which one of them")
        ->type_name("SOURCE")
        ->required();
  }

  /// `type/source`.
  [[nodiscard]] std::string in_words() const {
    std::ostringstream words;
    words << key;
    return words.str();
  }
};

}  // namespace rowlock::cli

#endif
