// The application's transaction, as far as we use it.
#include "sqlite/caller_transaction.hpp"

#include <sqlite3.h>

#include "rowlock/error.hpp"

namespace rowlock::on_sqlite {

bool is_in_transaction(sqlite3* database) noexcept { return sqlite3_get_autocommit(database) == 0; }

void require_transaction(sqlite3* database) {
  if (is_in_transaction(database)) return;
  throw error{errc::misuse, "the connection has no open transaction: begin one first"};
}

void require_immediate_transaction(sqlite3* database) {
  require_transaction(database);
  if (sqlite3_txn_state(database, nullptr) == SQLITE_TXN_WRITE) return;
  throw error{errc::misuse,
              "the open transaction is a deferred one, which cannot lock: begin it with BEGIN "
              "IMMEDIATE, or use rowlock::sqlite_transaction"};
}

}  // namespace rowlock::on_sqlite
