// The exceptions of SQLiteCpp, which applications know.
#include "sqlite/sqlitecpp/errors.hpp"

#include <SQLiteCpp/Exception.h>

#include <exception>

#include "rowlock/retry.hpp"
#include "sqlite/result_codes.hpp"

namespace rowlock::detail {

namespace {

bool is_sqlite_conflict(const std::exception& thrown) {
  const auto* const by_driver = dynamic_cast<const SQLite::Exception*>(&thrown);
  return by_driver != nullptr && on_sqlite::is_busy({by_driver->getErrorCode(), ""});
}

}  // namespace

void recognise_sqlite_conflicts() noexcept { recognise_conflicts(&is_sqlite_conflict); }

void throw_as_driver(const on_sqlite::failure& failed) {
  throw SQLite::Exception{failed.what(), failed.code()};
}

void throw_as_error(const on_sqlite::failure& failed, const std::string& where,
                    const std::string& if_missing) {
  try {
    throw_as_driver(failed);
  } catch (const SQLite::Exception&) {
    on_sqlite::throw_error(failed, where, if_missing);
  }
}

}  // namespace rowlock::detail
