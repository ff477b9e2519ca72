// A part of a transaction that can be undone alone.
#include "dialects/sqlite/savepoint.hpp"

#include <sqlite3.h>

#include "dialects/sqlite/statement.hpp"
#include "sql/sqlite_transaction_statements.hpp"

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
