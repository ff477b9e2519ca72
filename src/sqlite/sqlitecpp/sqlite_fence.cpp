// Fences on SQLite.
#include <span>

#include "rowlock/sqlite.hpp"
#include "sqlite/sqlitecpp/errors.hpp"
#include "sqlite/transaction.hpp"
#include "sqlite/writing.hpp"

namespace rowlock {

namespace {

void prove(SQLite::Database& transaction, const fenced_leases& leases,
           std::span<const release_request> releases, const table_name& table) {
  detail::recognise_sqlite_conflicts();
  const auto proved = detail::on_lock_table(transaction, table, [&] {
    return on_sqlite::prove(transaction.getHandle(), leases, releases, table);
  });
  if (proved.found != detail::fence_try::held) {
    on_sqlite::roll_back(transaction.getHandle());
    detail::throw_not_proved(leases, proved.found);
  }
  detail::released_within(leases, proved.unset_as);
}

}  // namespace

void fence(SQLite::Database& transaction, const fenced_leases& leases, const table_name& table) {
  prove(transaction, leases, {}, table);
}

void release_with(SQLite::Database& transaction, const fenced_leases& leases,
                  const release_options& options, const table_name& table) {
  prove(transaction, leases, detail::to_release(leases, options), table);
}

}  // namespace rowlock
