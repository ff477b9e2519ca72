// Connections to files that the library opens itself.
#include "sqlite/open_file.hpp"

#include "dialects/sqlite/database_file.hpp"
#include "sqlite/driver_exceptions.hpp"

namespace rowlock::detail {

std::unique_ptr<SQLite::Database> open_file(const std::string& path, on_sqlite::patience& wait) {
  const auto plain = on_sqlite::as_existing_file(path);
  auto opened = opened_by_driver(
      [&] { return std::make_unique<SQLite::Database>(plain, SQLite::OPEN_READWRITE); });
  on_sqlite::prepare_connection(opened->getHandle());
  on_sqlite::switch_to_wal(opened->getHandle(), wait);
  return opened;
}

}  // namespace rowlock::detail
