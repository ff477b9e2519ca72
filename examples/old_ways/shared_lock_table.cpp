// The old way: a table of locks in the application's database, and a repository over it:
// findByTypeAndSourceIdLocked (SELECT ... FOR UPDATE), insert if it is not there, save(locked =
// true), the callback, save(locked = false) in a finally. What goes wrong: a crash leaves the row
// locked for ever; two inserts collide as an exception; and a transaction around the callback holds
// a connection for as long as the work takes.
#include <SQLiteCpp/SQLiteCpp.h>

#include <iostream>
#include <stdexcept>

#include "rowlock/lock_table.hpp"
#include "rowlock/sqlite.hpp"
#include "rowlock/sqlite_store.hpp"

int main() {
  rowlock::migrate_sqlite("shared_lock_table.db");
  rowlock::sqlite_store store{"shared_lock_table.db"};
  rowlock::lock_table locks{store};
  const rowlock::lock_key invoice{.type = "INVOICE", .source_id = "42"};

  // find, insert, save, callback, unset: one call. The row is unset also after an exception.
  const auto number = locks.with_lock(invoice, [&] {
    const auto row = locks.look(invoice);
    std::cout << "locked by " << (row->holder.empty() ? "nobody" : "us") << " since "
              << (row->acquired_at.empty() ? "never" : "now") << '\n';
    return 4711;
  });
  std::cout << "sent as " << *number << "; locked: " << locks.look(invoice)->owned << '\n';

  try {
    static_cast<void>(locks.with_lock(invoice, [] { throw std::runtime_error{"no mail server"}; }));
  } catch (const std::runtime_error& problem) {
    const auto row = locks.look(invoice);
    std::cout << problem.what() << "; locked: " << row->owned
              << ", failures so far: " << row->failure_count << '\n';
  }

  // Where the work is short and inside the database: the same row, held by the transaction.
  SQLite::Database shop{"shared_lock_table.db", SQLite::OPEN_READWRITE};
  const auto paid = rowlock::with_row_lock<rowlock::sqlite_transaction>(
      shop, invoice, rowlock::no_wait(), [](rowlock::sqlite_transaction&) { return true; });
  std::cout << "paid in one transaction: " << paid.acquired() << '\n';
}
