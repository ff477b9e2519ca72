// A part of a transaction that can be undone alone.
#include "sqlite/savepoint.hpp"

#include <sqlite3.h>

#include "sqlite/sql/transaction_statements.hpp"
#include "sqlite/statement.hpp"

namespace rowlock::on_sqlite {

savepoint::savepoint(sqlite3* transaction) : transaction_{transaction} {
  execute(transaction_, sql::sqlite::set_savepoint);
}

savepoint::~savepoint() {
  if (released_) return;
  // It fails only where SQLite has rolled the whole transaction back.
  sqlite3_exec(transaction_, sql::sqlite::undo_savepoint.data(), nullptr, nullptr, nullptr);
}

void savepoint::release() {
  execute(transaction_, sql::sqlite::release_savepoint);
  released_ = true;
}

}  // namespace rowlock::on_sqlite
