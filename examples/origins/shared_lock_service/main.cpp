// Two instances of a service that post to one folio, and export it under a shared lock.
#include <iostream>

#include "origins/shared_lock_service/folios.hpp"
#include "origins/shared_lock_service/shared_lock_service.hpp"
#include "origins/support/open_store.hpp"

namespace {

template <class Transaction, class Connection>
void post(Connection& connection) {
  for (const auto amount : {100, 250}) {
    (void)origins::create_or_update_folio_transaction<Transaction>(
        connection, {.folio_id = "F-1", .amount = amount}, origins::log_to_console);
  }
  Transaction work{connection};
  const auto person = origins::find_person_locked(work, 7);
  std::cout << (person.acquired() ? *person : std::string{"no person"}) << " pays folio F-1\n";
}

}  // namespace

int main(int arguments, char** argument) {
  try {
    const auto rows = origins::open_store(arguments, argument, "shared_lock_service.db");
    rowlock::lock_table locks{*rows};
    origins::shared_lock_service service{locks, {.tenant = "hotel-1"}, origins::log_to_console};
    const auto exported = service.acquire_lock("F-1", "invoice 2026-17", "EXPORT", [&] {
      const auto again =
          service.acquire_lock("F-1", "invoice 2026-17", "EXPORT", [] { return true; });
      std::cout << "a second export at the same time: " << (again ? "yes" : "no") << '\n';
      return 1;
    });
    std::cout << "exported: " << exported.value_or(0) << '\n';

    const std::string setup = std::string{origins::create_folios} + ';' + origins::create_persons +
                              "; INSERT INTO person VALUES (7, 'Ann')";
    if (arguments > 1) {
      pqxx::connection connection{argument[1]};
      pqxx::nontransaction{connection}.exec("SET search_path TO pg_temp; " + setup);
      post<pqxx::work>(connection);
    } else {
      SQLite::Database database{":memory:", SQLite::OPEN_READWRITE};
      database.exec(setup);
      post<rowlock::sqlite_transaction>(database);
    }
  } catch (const std::exception& thrown) {
    std::cerr << thrown.what() << '\n';
    return 1;
  }
}
