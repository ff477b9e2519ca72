// The one place for a writer that a file has.
#include "sqlite/writing.hpp"

#include <sqlite3.h>

#include "sqlite/caller_transaction.hpp"
#include "sqlite/result_codes.hpp"
#include "sqlite/sql/transaction_statements.hpp"
#include "sqlite/statement.hpp"

namespace rowlock::on_sqlite {

namespace {

int busy_timeout_of(sqlite3* database) {
  statement pragma{database, sql::sqlite::get_busy_timeout};
  return pragma.has_next_row() ? static_cast<int>(pragma.integer(0)) : 0;
}

}  // namespace

bool begin_immediate(sqlite3* database, patience& wait) {
  return succeeds_in_time(wait, [&] { execute(database, sql::sqlite::begin_immediate); });
}

void commit(sqlite3* database, patience& wait) {
  try {
    until_not_busy(wait, [&] { execute(database, sql::sqlite::commit); });
  } catch (const failure& thrown) {
    throw_as_commit(thrown);
  }
}

void roll_back(sqlite3* database) noexcept {
  if (!is_in_transaction(database)) return;
  // What cannot be rolled back is at its end already, or goes with the connection.
  sqlite3_exec(database, sql::sqlite::rollback.data(), nullptr, nullptr, nullptr);
}

without_busy_timeout::without_busy_timeout(sqlite3* database)
    : database_{database}, milliseconds_{busy_timeout_of(database)} {
  if (milliseconds_ > 0) sqlite3_busy_timeout(database_, 0);
}

without_busy_timeout::~without_busy_timeout() {
  if (milliseconds_ > 0) sqlite3_busy_timeout(database_, milliseconds_);
}

}  // namespace rowlock::on_sqlite
