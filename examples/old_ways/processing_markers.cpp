// The old way: a marker "processing" with a short expiry, then a marker "processed" with a long
// one; a message that finds either is dropped or put back. What goes wrong: two markers, two
// writes, and a crash between the work and the second one.
#include <SQLiteCpp/SQLiteCpp.h>

#include <chrono>
#include <iostream>
#include <stdexcept>
#include <string>

#include "rowlock/lock_table.hpp"
#include "rowlock/sqlite.hpp"
#include "rowlock/sqlite_store.hpp"

using namespace std::chrono_literals;

namespace {

constexpr auto remembered = 24h;

void consume(rowlock::lock_table& locks, SQLite::Database& shop, const std::string& message,
             bool fails) {
  const auto work = [&](const rowlock::lease& held) {
    rowlock::sqlite_transaction books{shop};
    if (fails) throw std::runtime_error{"the printer is out of paper"};
    SQLite::Statement insert{shop, "INSERT INTO booking (message) VALUES (?)"};
    insert.bind(1, message);
    insert.exec();
    // "Processed" is written by the same commit as the booking: exactly once.
    rowlock::release_with(shop, held, {.done_for = remembered});
    books.commit();
  };
  try {
    const auto done = locks.with_lock_once({"message", message}, work, {.keep_for = remembered});
    std::cout << message << ": ";
    if (done.acquired()) {
      std::cout << "processed\n";
    } else if (done.refusal().reason == rowlock::refusal_reason::already_done) {
      std::cout << "dropped, it is done already\n";
    } else {
      std::cout << "put back: " << done.refusal() << '\n';  // in progress
    }
  } catch (const std::runtime_error& problem) {
    std::cout << message << ": put back, " << problem.what() << '\n';
  }
}

}  // namespace

int main() {  // NOLINT(bugprone-exception-escape): what ends an example is shown
  rowlock::migrate_sqlite("processing_markers.db");
  SQLite::Database shop{"processing_markers.db", SQLite::OPEN_READWRITE};
  shop.exec("CREATE TABLE booking (message TEXT)");
  rowlock::sqlite_store store{"processing_markers.db"};
  rowlock::lock_table locks{store};

  const std::string twice = "order-17";
  consume(locks, shop, twice, true);   // fails: nothing is marked
  consume(locks, shop, twice, false);  // delivered again
  consume(locks, shop, twice, false);  // and once too often
  const auto booked = shop.execAndGet("SELECT count(*) FROM booking").getInt();
  std::cout << "booked " << booked << " time\n";
}
