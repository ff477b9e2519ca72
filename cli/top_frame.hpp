// What `rowlock top` shows.
#ifndef ROWLOCK_CLI_TOP_FRAME_HPP
#define ROWLOCK_CLI_TOP_FRAME_HPP

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "cli/screen.hpp"
#include "rowlock/port/requests.hpp"

namespace rowlock::cli {

struct top_state {
  std::string table;
  list_request request;
  std::chrono::milliseconds interval{};
  bool is_paused = false;
  bool has_help = false;
  bool has_colors = false;
  /// In the order of the request; the first of them if there are more than a page has.
  std::vector<row_state> rows;
  /// How long ago they were read; none: not yet.
  std::optional<std::chrono::microseconds> age = std::nullopt;
  /// Why the last read failed; empty if it did not.
  std::string fault = {};
  /// How long the database has not answered.
  std::optional<std::chrono::microseconds> waiting = std::nullopt;
  /// A line for the user: a prompt, or why an input was refused.
  std::string notice = {};
};

/// The lines for a terminal of this size; without one, as many and as long as needed.
std::vector<std::string> frame_of(const top_state& shown, std::optional<terminal_size> size);

}  // namespace rowlock::cli

#endif
