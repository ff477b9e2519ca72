// An array of objects that is printed as they come.
#ifndef ROWLOCK_CLI_JSON_ARRAY_HPP
#define ROWLOCK_CLI_JSON_ARRAY_HPP

#include <iostream>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "cli/shown_row.hpp"

namespace rowlock::cli {

/// The same bytes as one array that is printed at once. After a fault the array has no end, so that
/// no program takes a part for all.
///
/// Thread-safety: one thread at a time.
class json_array {
 public:
  void add(const nlohmann::ordered_json& object) {
    std::cout << (is_empty_ ? "[\n" : ",\n") << indented(json_text(object));
    is_empty_ = false;
  }
  void end() { std::cout << (is_empty_ ? "[]\n" : "\n]\n"); }

 private:
  /// No string of JSON contains a line's end.
  static std::string indented(std::string_view text) {
    std::string moved = "  ";
    for (const char each : text) {
      moved += each;
      if (each == '\n') moved += "  ";
    }
    return moved;
  }

  bool is_empty_ = true;
};

}  // namespace rowlock::cli

#endif
