// The application's transaction, as far as we use it.
#include "sqlite/caller_transaction.hpp"

#include <sqlite3.h>

#include "rowlock/error.hpp"

namespace rowlock::detail {

void require_transaction(const SQLite::Database& database) {
  recognise_sqlite_conflicts();
  if (sqlite3_get_autocommit(database.getHandle()) == 0) return;
  throw error{errc::misuse, "the connection has no open transaction: begin one first"};
}

void require_immediate_transaction(const SQLite::Database& database) {
  require_transaction(database);
  if (sqlite3_txn_state(database.getHandle(), nullptr) == SQLITE_TXN_WRITE) return;
  throw error{errc::misuse,
              "the open transaction is a deferred one, which cannot lock: begin it with BEGIN "
              "IMMEDIATE, or use rowlock::sqlite_transaction"};
}

}  // namespace rowlock::detail
