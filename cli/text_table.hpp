// Tables for people, as wide as the terminal, and lists of items that are printed as they come.
#ifndef ROWLOCK_CLI_TEXT_TABLE_HPP
#define ROWLOCK_CLI_TEXT_TABLE_HPP

#include <cstddef>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/shown_row.hpp"
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

/// Prints items in pages as they come: as a table, or as one JSON array, with the same bytes as if
/// it was printed at once. After a fault the array has no end, so that no program takes a part for
/// all.
template <class Table>
class page_printer {
 public:
  page_printer(Table table, bool is_json) : table_{std::move(table)}, is_json_{is_json} {}

  template <class Item>
  void print(const std::vector<Item>& page) {
    if (page.empty()) return;
    if (is_json_) {
      for (const auto& item : page) print_json_item(json_of(item));
    } else {
      const auto lines = table_.lines_of(page);
      if (is_empty_) std::cout << table_.heading() << '\n';
      for (const auto& line : lines) std::cout << line << '\n';
      is_empty_ = false;
    }
    std::cout.flush();
  }

  void end(const std::string& if_empty) const {
    if (is_json_) {
      std::cout << (is_empty_ ? "[]\n" : "\n]\n");
    } else if (is_empty_) {
      std::cout << if_empty << '\n';
    }
    std::cout.flush();
  }

 private:
  void print_json_item(const nlohmann::ordered_json& object) {
    const auto array =
        json_text(nlohmann::ordered_json::array({object}));  // "[\n" and "\n]" around it
    std::cout << (std::exchange(is_empty_, false) ? "[\n" : ",\n")
              << std::string_view{array}.substr(2, array.size() - 4);
  }

  Table table_;
  bool is_json_;
  bool is_empty_ = true;
};

}  // namespace rowlock::cli

#endif
