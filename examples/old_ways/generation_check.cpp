// The old way: read a record with its generation, work, write it only if the generation is still
// the same; a switch over error codes: lock unavailable, retries exhausted, connection error. What
// goes wrong: an outage looks like contention, and the check protects its own record only.
#include <SQLiteCpp/SQLiteCpp.h>

#include <array>
#include <cstddef>
#include <iostream>

#include "rowlock/error.hpp"
#include "rowlock/retry.hpp"
#include "rowlock/row_lock.hpp"
#include "rowlock/sqlite.hpp"
#include "rowlock/sqlite_store.hpp"

namespace {

enum class code { ok, lock_unavailable, retries_exhausted, connection_error };

std::ostream& operator<<(std::ostream& out, code shown) {
  constexpr std::array names{"ok", "lock unavailable", "retries exhausted", "connection error"};
  return out << names.at(static_cast<std::size_t>(shown));
}

/// The version of the row is the generation; it protects everything in the transaction.
code sell(SQLite::Database& shop, bool is_disturbed) {
  try {
    const auto sold = rowlock::retry({.attempts = 3}, [&] {
      return rowlock::with_optimistic_commit<rowlock::sqlite_transaction>(
          shop, {"stock", "chairs"}, [&](rowlock::sqlite_transaction& work) {
            work.database().exec("UPDATE stock SET chairs = chairs - 1");
            if (is_disturbed) {  // another process commits on the key
              const auto seen = rowlock::read_version(work.database(), {"stock", "chairs"});
              static_cast<void>(rowlock::try_commit(work.database(), {"stock", "chairs"}, *seen));
            }
          });
    });
    if (sold.acquired()) return code::ok;
    return sold.refusal().reason == rowlock::refusal_reason::held ? code::lock_unavailable
                                                                  : code::retries_exhausted;
  } catch (const rowlock::error& fault) {  // never contention
    std::cout << fault.what() << '\n';
    return code::connection_error;
  }
}

}  // namespace

int main() {
  rowlock::migrate_sqlite("generation_check.db");
  SQLite::Database shop{"generation_check.db", SQLite::OPEN_READWRITE};
  shop.exec("CREATE TABLE stock (chairs INTEGER)");
  shop.exec("INSERT INTO stock VALUES (10)");

  std::cout << "alone: " << sell(shop, false) << '\n';
  std::cout << "disturbed each time: " << sell(shop, true) << '\n';
  SQLite::Database elsewhere{":memory:", SQLite::OPEN_READWRITE};
  std::cout << "on a database without the table: " << sell(elsewhere, false) << '\n';
  std::cout << "left: " << shop.execAndGet("SELECT chairs FROM stock").getInt() << '\n';
}
