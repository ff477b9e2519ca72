// Command-line options that choose rows and their order, for list and top.
#ifndef ROWLOCK_CLI_LIST_OPTIONS_HPP
#define ROWLOCK_CLI_LIST_OPTIONS_HPP

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "rowlock/port/requests.hpp"

namespace rowlock::cli {

struct list_options {
  std::optional<std::string> type;
  std::optional<std::string> holder;
  std::string state = "any";
  std::string sort = "key";
  std::string color = "auto";

  void add_to(CLI::App& subcommand);

  /// The options as a request, which is checked. Throws `error` (misuse).
  [[nodiscard]] list_request request() const;
  /// Whether to print colours: as `--color` says, else to a terminal without NO_COLOR. Throws
  /// `error` (misuse).
  [[nodiscard]] bool has_colors() const;
};

/// `key`, `age`, `left`.
std::string word_of(row_order order);
/// `any`, `held`, `run-out`, `closed`.
std::string word_of(row_filter state);

}  // namespace rowlock::cli

#endif
