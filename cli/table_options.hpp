// Command-line options of every subcommand: the database and the table.
#ifndef ROWLOCK_CLI_TABLE_OPTIONS_HPP
#define ROWLOCK_CLI_TABLE_OPTIONS_HPP

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

#include "cli/database_url.hpp"

namespace rowlock::cli {

struct table_options {
  std::optional<std::string> url;
  std::optional<std::string> url_file;
  std::string table = "shared_lock";

  void add_to(CLI::App& subcommand);

  /// The URL of the command line, else the one in the file, else that of the environment. Throws
  /// `error` (misuse) if there is none, and for a file that users other than its owner may read.
  [[nodiscard]] database_url database() const;

  /// Whether the URL is in a file that can be read again, which a pipe or a terminal cannot: after
  /// a refused login it may have another password.
  [[nodiscard]] bool may_change() const;

  /// The store of `first`, which `database` returned. It reads a URL that may change again after a
  /// refused login. Opens nothing yet.
  [[nodiscard]] std::unique_ptr<store> open(const database_url& first) const;

  /// The same for callers that connect to nothing: `sqlite://` need not name a file.
  [[nodiscard]] database_url kind_of_database() const;

 private:
  [[nodiscard]] std::string url_as_given() const;
};

}  // namespace rowlock::cli

#endif
