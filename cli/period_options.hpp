// Command-line options of the commands that read the history: from when, until when.
#ifndef ROWLOCK_CLI_PERIOD_OPTIONS_HPP
#define ROWLOCK_CLI_PERIOD_OPTIONS_HPP

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "rowlock/port/requests.hpp"

namespace rowlock::cli {

struct period_options {
  /// 24 hours before `until` if not given.
  std::optional<std::string> since = std::nullopt;
  std::string until = "now";

  void add_to(CLI::App& subcommand);

  /// The request with both times, by the database's time `now`. Without an end if that is `now`:
  /// events that are written meanwhile are shown. Throws `error` (misuse) if it is not valid.
  [[nodiscard]] history_request of(history_request request, database_time now) const;

  /// Throws as `of` does at any time of the database, before that is known.
  void check_any_time(const history_request& request) const;

 private:
  [[nodiscard]] history_request unchecked(history_request request, database_time now) const;
};

}  // namespace rowlock::cli

#endif
