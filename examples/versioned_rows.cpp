// A compare-and-set on rows of the application that carry a version of their own.
#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <iostream>

#include "rowlock/retry.hpp"
#include "rowlock/sqlite.hpp"

namespace {

const rowlock::versioned_table products{
    .table = "product", .id_column = "id", .version_column = "version"};

// Takes ten percent off. `meanwhile` is called between the read and the write.
template <class Meanwhile>
rowlock::commit_result reduce(SQLite::Database& shop, std::int64_t id, Meanwhile&& meanwhile) {
  SQLite::Statement select{shop, "SELECT version, price FROM product WHERE id = ?"};
  select.bind(1, id);
  select.executeStep();
  const std::int64_t seen = select.getColumn(0);
  const int price = select.getColumn(1);
  select.reset();
  meanwhile();

  rowlock::sqlite_transaction work{shop};
  const auto result = rowlock::try_commit(shop, products, id, seen);
  std::cout << (result == rowlock::commit_result::stale ? "stale" : "committed") << '\n';
  if (result == rowlock::commit_result::stale) return result;  // rolls back

  SQLite::Statement update{shop, "UPDATE product SET price = ? WHERE id = ?"};
  update.bind(1, price * 9 / 10);
  update.bind(2, id);
  update.exec();
  work.commit();
  return result;
}

}  // namespace

int main() {
  SQLite::Database shop{":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
  shop.exec("CREATE TABLE product (id INTEGER PRIMARY KEY, version INTEGER, price INTEGER)");
  shop.exec("INSERT INTO product VALUES (1, 1, 100)");

  // The first try is overtaken by another price, the second is not.
  bool overtaken = false;
  const auto result = rowlock::retry({.attempts = 3}, [&] {
    return reduce(shop, 1, [&] {
      if (overtaken) return;
      overtaken = true;
      shop.exec("UPDATE product SET price = 200, version = version + 1 WHERE id = 1");
    });
  });
  const int price = shop.execAndGet("SELECT price FROM product WHERE id = 1");
  std::cout << "the price is " << price << '\n';
  return result == rowlock::commit_result::committed ? 0 : 1;
}
