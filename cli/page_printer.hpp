// Lists of items that are printed page by page: as a table, or as JSON.
#ifndef ROWLOCK_CLI_PAGE_PRINTER_HPP
#define ROWLOCK_CLI_PAGE_PRINTER_HPP

#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/shown_row.hpp"

namespace rowlock::cli {

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
