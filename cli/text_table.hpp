// Tables for people, as wide as the terminal.
#ifndef ROWLOCK_CLI_TEXT_TABLE_HPP
#define ROWLOCK_CLI_TEXT_TABLE_HPP

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

/// Columns are as wide as the present rows and earlier ones need. A table that is too wide shortens
/// its longest columns first.
///
/// Thread-safety: one thread at a time.
class text_table {
 public:
  struct column {
    std::string_view name;
    /// The cells to which it may be shortened; 0: not at all (half of a number is another one).
    std::size_t least = 0;
    /// It loses its end, else its middle: of a key or a host the end may be what differs.
    bool loses_end = false;
  };
  struct row {
    /// One for each column, all of them `printable`.
    std::vector<std::string> texts;
    std::string_view style = {};
  };

  /// `width`: the cells of a line; none: as many as needed.
  text_table(std::vector<column> columns, std::optional<std::size_t> width);

  std::vector<std::string> lines_of(const std::vector<row>& rows);
  /// The line above those of the last `lines_of`.
  [[nodiscard]] std::string heading() const;

 private:
  void fit();
  [[nodiscard]] std::string line(const std::vector<std::string>& texts) const;

  std::vector<column> columns_;
  std::optional<std::size_t> width_;
  std::vector<std::size_t> needed_;
  std::vector<std::size_t> used_;
};

/// TYPE SOURCE HOLDER AGE ALIVE LEFT NOTE, with all texts `printable`.
class row_table : public text_table {
 public:
  row_table(std::optional<std::size_t> width, bool has_colors);

  std::vector<std::string> lines_of(std::span<const row_state> rows);

 private:
  bool has_colors_;
};

}  // namespace rowlock::cli

#endif
