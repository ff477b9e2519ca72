// The conversion of SQLite::Exception from and to errors; opening a file.
#include "sqlite/sqlitecpp/errors.hpp"

#include <SQLiteCpp/Exception.h>

#include <exception>

#include "rowlock/retry.hpp"

namespace rowlock::detail {

namespace {

bool is_sqlite_conflict(const std::exception& thrown) {
  const auto* const by_driver = dynamic_cast<const SQLite::Exception*>(&thrown);
  return by_driver != nullptr && sqlite::is_busy({by_driver->getErrorCode(), ""});
}

}  // namespace

void recognise_sqlite_conflicts() noexcept { recognise_conflicts(&is_sqlite_conflict); }

void throw_as_driver(const sqlite::failure& failed) {
  throw SQLite::Exception{failed.what(), failed.code()};
}

void throw_as_error(const sqlite::failure& failed, const std::string& where,
                    const std::string& if_missing) {
  try {
    throw_as_driver(failed);
  } catch (const SQLite::Exception&) {
    sqlite::throw_error(failed, where, if_missing);
  }
}

std::unique_ptr<SQLite::Database> open_file(const std::string& path) {
  const auto plain = sqlite::as_existing_file(path);
  if (const auto uri = sqlite::uri_of_unwritable(plain); !uri.empty()) {
    return opened_by_driver([&] {
      return std::make_unique<SQLite::Database>(uri, SQLite::OPEN_READONLY | SQLite::OPEN_URI);
    });
  }
  return opened_by_driver(
      [&] { return std::make_unique<SQLite::Database>(plain, SQLite::OPEN_READWRITE); });
}

}  // namespace rowlock::detail
