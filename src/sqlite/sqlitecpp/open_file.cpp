// Connections to files that the library opens itself.
#include "sqlite/sqlitecpp/open_file.hpp"

#include "sqlite/database_file.hpp"
#include "sqlite/sqlitecpp/errors.hpp"

namespace rowlock::detail {

std::unique_ptr<SQLite::Database> open_file(const std::string& path) {
  const auto plain = on_sqlite::as_existing_file(path);
  if (const auto uri = on_sqlite::uri_of_unwritable(plain); !uri.empty()) {
    return opened_by_driver([&] {
      return std::make_unique<SQLite::Database>(uri, SQLite::OPEN_READONLY | SQLite::OPEN_URI);
    });
  }
  return opened_by_driver(
      [&] { return std::make_unique<SQLite::Database>(plain, SQLite::OPEN_READWRITE); });
}

}  // namespace rowlock::detail
