// BEGIN IMMEDIATE, COMMIT and ROLLBACK.
#include "sqlite/immediate.hpp"

#include <sqlite3.h>

#include "sqlite/sql/transactions.hpp"
#include "sqlite/statement.hpp"
#include "sqlite/transaction_state.hpp"

namespace rowlock::sqlite {

namespace {

int busy_timeout_of(sqlite3* database) {
  statement pragma{database, sql::get_busy_timeout};
  return pragma.has_next_row() ? static_cast<int>(pragma.integer(0)) : 0;
}

}  // namespace

bool begin_immediate(sqlite3* database, busy_wait& wait) {
  return succeeds_in_time(wait, [&] { execute(database, sql::begin_immediate); });
}

void commit(sqlite3* database, busy_wait& wait) {
  try {
    until_not_busy(wait, [&] { execute(database, sql::commit); });
  } catch (const failure& thrown) {
    throw_as_commit(thrown);
  }
}

void roll_back(sqlite3* database) noexcept {
  if (!is_in_transaction(database)) return;
  // If it fails, the transaction has ended already, or ends with the connection.
  sqlite3_exec(database, sql::rollback.data(), nullptr, nullptr, nullptr);
}

without_busy_timeout::without_busy_timeout(sqlite3* database)
    : database_{database}, milliseconds_{busy_timeout_of(database)} {
  if (milliseconds_ > 0) sqlite3_busy_timeout(database_, 0);
}

without_busy_timeout::~without_busy_timeout() {
  if (milliseconds_ > 0) sqlite3_busy_timeout(database_, milliseconds_);
}

}  // namespace rowlock::sqlite
