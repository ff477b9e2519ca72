// Ends of statements, for clients and tools that would cut a trigger at the semicolons within it.
#include "cli/statement_ends.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>

namespace rowlock::cli {

std::string for_clients(std::string sql) {
  constexpr std::string_view begin = "\nCREATE TRIGGER";
  constexpr std::string_view end = "\nEND;\n";
  for (auto at = sql.find(begin); at != std::string::npos; at = sql.find(begin, at)) {
    constexpr std::string_view before = "\nDELIMITER //";
    constexpr std::string_view after = "\nEND//\nDELIMITER ;\n";
    const auto last = sql.find(end, at);
    if (last == std::string::npos) break;
    sql.replace(last, end.size(), after);
    sql.insert(at, before);
    at += before.size() + begin.size();
  }
  return sql;
}

std::string with_delimiter_lines(const std::string& sql) {
  std::istringstream lines{sql};
  std::string rewritten;
  bool is_in_trigger = false;
  for (std::string line; std::getline(lines, line);) {
    const auto text =
        std::string_view{line}.substr(std::min(line.find_first_not_of(' '), line.size()));
    if (text.starts_with("CREATE TRIGGER")) is_in_trigger = true;
    if (line == "END;") is_in_trigger = false;
    const bool ends = !is_in_trigger && text.ends_with(';') && !text.starts_with("--");
    if (ends && line != "END;") line.pop_back();
    rewritten += line + '\n';
    if (ends) rewritten += "//\n";
  }
  return rewritten;
}

}  // namespace rowlock::cli
