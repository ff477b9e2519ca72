// The SQLite handle of a SOCI session, and its connection parameters.
#include "sqlite/soci/handle.hpp"

#include <soci/soci.h>
#include <soci/sqlite3/soci-sqlite3.h>

#include <algorithm>
#include <array>
#include <exception>
#include <sstream>
#include <string_view>

#include "base/never_destroyed.hpp"
#include "rowlock/error.hpp"
#include "rowlock/retry.hpp"
#include "sqlite/database_file.hpp"

namespace rowlock::through_soci {

namespace {

[[noreturn]] void refuse() {
  throw error{errc::misuse,
              "a SQLite file is named as in sqlite3:///path/to/file or sqlite3://db=/path/to/file: "
              "give its path, and besides that timeout, synchronous and foreign_keys at most "
              "(readonly, shared_cache, vfs, a database in memory and a URI cannot work)"};
}

/// Reads up to the next blank, or to the closing quotation mark.
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
  // Some builds of SQLite read `file:...` as a URI; all read `:memory:` as no file.
  if (path.empty() || path.front() == ':' || path.starts_with("file:")) refuse();
  return path;
}

namespace {

class factory_of_existing_files final : public ::soci::backend_factory {
 public:
  [[nodiscard]] ::soci::details::session_backend* make_session(
      const ::soci::connection_parameters& parameters) const override {
    (void)sqlite::as_existing_file(file_in(parameters.get_connect_string()));
    return ::soci::factory_sqlite3()->make_session(parameters);
  }
};

bool is_conflict_of_soci(const std::exception& thrown) {
  const auto* const by_driver = dynamic_cast<const ::soci::sqlite3_soci_error*>(&thrown);
  return by_driver != nullptr && sqlite::is_busy({by_driver->result(), ""});
}

}  // namespace

::sqlite3* handle_of(::soci::session& session) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-static-cast-downcast): SOCI says to do so
  const auto* const backend = static_cast<::soci::sqlite3_session_backend*>(session.get_backend());
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): one type by two names
  return reinterpret_cast<::sqlite3*>(backend->conn_);
}

const ::soci::backend_factory& existing_files() {
  static const auto& factory = detail::never_destroyed<const factory_of_existing_files>();
  return factory;
}

void throw_opening_failure() {
  try {
    throw;
  } catch (const error&) {
    throw;
  } catch (const ::soci::sqlite3_soci_error& thrown) {
    throw sqlite::failure{thrown.result(), "opening it failed"};
  }
}

void recognise_sqlite_conflicts() noexcept { detail::recognise_conflicts(&is_conflict_of_soci); }

}  // namespace rowlock::through_soci
