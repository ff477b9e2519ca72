// Whether a transaction is open on a connection.
#include "sqlite/transaction_state.hpp"

#include <sqlite3.h>

#include "rowlock/error.hpp"
#include "sqlite/open_files.hpp"

namespace rowlock::sqlite {

bool is_in_transaction(sqlite3* database) noexcept { return sqlite3_get_autocommit(database) == 0; }

void require_transaction(sqlite3* database) {
  note_open(database);
  if (is_in_transaction(database)) return;
  throw error{
      errc::misuse,
      "the connection has no open transaction: begin one first. If a COMMIT of your own ended it, "
      "its work is kept, without the proof of the lease: remove that statement. If SQLite ended it "
      "for an error (a full disk, ON CONFLICT ROLLBACK), nothing of it is kept: run it again from "
      "its beginning"};
}

void require_immediate_transaction(sqlite3* database) {
  require_transaction(database);
  if (sqlite3_txn_state(database, nullptr) == SQLITE_TXN_WRITE) return;
  throw error{errc::misuse,
              "the open transaction is a deferred one, which cannot lock: begin it with BEGIN "
              "IMMEDIATE, or use rowlock::sqlite_transaction"};
}

}  // namespace rowlock::sqlite
