// A table of rows for people, as wide as the terminal.
#ifndef ROWLOCK_CLI_ROW_TABLE_HPP
#define ROWLOCK_CLI_ROW_TABLE_HPP

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rowlock/port/requests.hpp"

namespace rowlock::cli {

/// Select Graphic Rendition: how a terminal shows the text between `begin` and `plain`.
namespace style {
inline constexpr std::string_view plain = "\x1b[0m";
inline constexpr std::string_view bold = "\x1b[1m";
inline constexpr std::string_view faint = "\x1b[2m";
inline constexpr std::string_view red = "\x1b[31m";
inline constexpr std::string_view yellow = "\x1b[33m";
}  // namespace style

/// TYPE SOURCE HOLDER AGE ALIVE LEFT NOTE, with all texts `printable`. A table that is too wide
/// shortens its longest columns first.
///
/// Thread-safety: one thread at a time.
class row_table {
 public:
  /// `columns`: the cells of a line; none: as many as needed.
  explicit row_table(std::optional<std::size_t> columns, bool has_colors)
      : columns_{columns}, has_colors_{has_colors} {}

  /// The lines of `rows`. Columns are as wide as these rows and earlier ones need.
  std::vector<std::string> lines_of(std::span<const row_state> rows);
  /// The line above those of the last `lines_of`.
  [[nodiscard]] std::string heading() const;

 private:
  static constexpr std::size_t column_count = 7;
  using cells = std::array<std::string, column_count>;
  using widths = std::array<std::size_t, column_count>;

  static cells cells_of(const row_state& row);
  void fit();
  [[nodiscard]] std::string line(const cells& of) const;

  std::optional<std::size_t> columns_;
  bool has_colors_;
  widths needed_{};
  widths used_{};
};

}  // namespace rowlock::cli

#endif
