// The parameters of a connection to a SQLite file, as SOCI reads them.
#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

#include "rowlock/error.hpp"
#include "sqlite/soci/sqlite_parameters.hpp"

namespace rowlock::through_soci {

namespace {

[[noreturn]] void refuse() {
  throw error{errc::misuse,
              "a SQLite file is named as in sqlite3:///path/to/file or sqlite3://db=/path/to/file: "
              "give its path, and besides that timeout, synchronous and foreign_keys at most "
              "(readonly, shared_cache, vfs, a database in memory and a URI cannot work)"};
}

/// Up to the next blank, or to the closing quotation mark.
std::string next_value(std::istream& rest) {
  std::string value;
  if (rest.peek() != '"') {
    std::getline(rest, value, ' ');
    return value;
  }
  std::string between;
  rest.get();
  std::getline(rest, value, '"');
  std::getline(rest, between, ' ');
  if (!between.empty()) refuse();
  return value;
}

bool is_harmless(std::string_view setting) {
  constexpr std::array<std::string_view, 4> known{"timeout", "synchronous", "foreign_keys",
                                                  "nocreate"};
  return std::ranges::find(known, setting) != known.end();
}

std::string path_among(const std::string& parameters) {
  if (parameters.find('=') == std::string::npos) return parameters;
  std::istringstream rest{parameters};
  std::string path;
  for (std::string setting; std::getline(rest, setting, '=');) {
    const auto value = next_value(rest);
    if (setting == "db" || setting == "dbname") {
      path = value;
    } else if (!is_harmless(setting)) {
      refuse();
    }
  }
  return path;
}

}  // namespace

std::string file_in(const std::string& parameters) {
  auto path = path_among(parameters);
  // Some builds of SQLite take `file:...` for a URI; all take `:memory:` for no file.
  if (path.empty() || path.front() == ':' || path.starts_with("file:")) refuse();
  return path;
}

}  // namespace rowlock::through_soci
