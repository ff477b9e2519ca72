// Pessimistic mode: the work runs inside the transaction that holds the rows.
#include <SQLiteCpp/SQLiteCpp.h>

#include <chrono>
#include <iostream>
#include <stdexcept>

#include "rowlock/sqlite.hpp"
#include "rowlock/sqlite_store.hpp"

using namespace std::chrono_literals;

namespace {

int balance(SQLite::Database& shop, int account) {
  SQLite::Statement select{shop, "SELECT balance FROM account WHERE id = ?"};
  select.bind(1, account);
  return select.executeStep() ? select.getColumn(0).getInt() : 0;
}

void transfer(SQLite::Database& shop, int amount) {
  if (balance(shop, 7) < amount) throw std::runtime_error{"not enough money"};
  SQLite::Statement update{shop, "UPDATE account SET balance = balance + ? WHERE id = ?"};
  update.bind(1, -amount);
  update.bind(2, 7);
  update.exec();
  update.reset();
  update.bind(1, amount);
  update.bind(2, 9);
  update.exec();
}

}  // namespace

int main() {
  rowlock::migrate_sqlite("row_lock.db");
  SQLite::Database shop{"row_lock.db", SQLite::OPEN_READWRITE};
  shop.exec("CREATE TABLE IF NOT EXISTS account (id INTEGER PRIMARY KEY, balance INTEGER)");
  shop.exec("INSERT OR REPLACE INTO account VALUES (7, 100), (9, 0)");

  // Sorted before they are locked, so that two transfers in opposite directions never deadlock.
  const rowlock::lock_keys accounts{{.type = "account", .source_id = "7"},
                                    {.type = "account", .source_id = "9"}};
  for (const int amount : {70, 50}) {
    try {
      const auto paid = rowlock::with_row_lock<rowlock::sqlite_transaction>(
          shop, accounts, 2s,
          [&](rowlock::sqlite_transaction& work) { transfer(work.database(), amount); });
      if (!paid.acquired()) std::cout << "not acquired: " << paid.refusal() << '\n';
    } catch (const std::runtime_error& problem) {  // rolled back
      std::cout << amount << ": " << problem.what() << '\n';
    }
    std::cout << "balances " << balance(shop, 7) << " and " << balance(shop, 9) << '\n';
  }
}
