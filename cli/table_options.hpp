// The options that every subcommand has: which database, which table.
#ifndef ROWLOCK_CLI_TABLE_OPTIONS_HPP
#define ROWLOCK_CLI_TABLE_OPTIONS_HPP

#include <CLI/CLI.hpp>
#include <string>

namespace rowlock::cli {

struct table_options {
  std::string url;
  std::string table = "shared_lock";

  void add_to(CLI::App& subcommand) {
    subcommand.add_option("URL", url, "sqlite:///path, postgresql://... or mysql://...")
        ->required();
    subcommand.add_option("--table", table, "The lock table: NAME or SCHEMA.NAME")
        ->type_name("NAME")
        ->capture_default_str();
  }
};

}  // namespace rowlock::cli

#endif
