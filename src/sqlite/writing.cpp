// The one place for a writer that a file has.
#include "sqlite/writing.hpp"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <sqlite3.h>

#include <string>

#include "sql/sqlite_statements.hpp"

namespace rowlock::detail {

bool begin_immediate(SQLite::Database& database, patience& wait) {
  const std::string begin{sql::sqlite::begin_immediate};
  return succeeds_in_time(wait, [&] { database.exec(begin); });
}

void commit(SQLite::Database& database, patience& wait) {
  const std::string commit{sql::sqlite::commit};
  try {
    until_not_busy(wait, [&] { database.exec(commit); });
  } catch (const SQLite::Exception& thrown) {
    throw_if_in_doubt(thrown);
    throw;
  }
}

void roll_back(SQLite::Database& database) noexcept {
  if (sqlite3_get_autocommit(database.getHandle()) != 0) return;
  database.tryExec(sql::sqlite::rollback.data());
}

without_busy_timeout::without_busy_timeout(SQLite::Database& database)
    : database_{database},
      milliseconds_{database.execAndGet(std::string{sql::sqlite::get_busy_timeout}).getInt()} {
  if (milliseconds_ > 0) sqlite3_busy_timeout(database_.getHandle(), 0);
}

without_busy_timeout::~without_busy_timeout() {
  if (milliseconds_ > 0) sqlite3_busy_timeout(database_.getHandle(), milliseconds_);
}

}  // namespace rowlock::detail
