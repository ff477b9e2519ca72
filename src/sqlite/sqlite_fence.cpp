// Fences on SQLite.
#include "rowlock/error.hpp"
#include "rowlock/sqlite.hpp"
#include "sqlite/caller_transaction.hpp"
#include "sqlite/row_statements.hpp"
#include "sqlite/writing.hpp"

namespace rowlock {

namespace {

enum class fenced_rows { stay, are_unset };

bool prove(detail::row_statements& rows, const fenced_leases& leases, fenced_rows then) {
  for (const lease& each : leases.all()) {
    const auto found = rows.read(each.key());
    if (!found || !found->state.owned || found->state.version != each.token()) return false;
    if (then == fenced_rows::are_unset) {
      rows.release({.key = each.key(), .owner = {found->owner}, .version = each.token()});
    }
  }
  return true;
}

/// The file's one writer is this transaction, so what it reads stays true until it ends.
void prove(SQLite::Database& transaction, const fenced_leases& leases, const table_name& table,
           fenced_rows then) {
  detail::require_immediate_transaction(transaction);
  const bool held = detail::on_lock_table<bool>(transaction, table, [&] {
    detail::row_statements rows{transaction, table};
    // A transaction that has written an attached file is not yet the writer of this one.
    rows.become_writer();
    return prove(rows, leases, then);
  });
  if (held) return;
  detail::roll_back(transaction);
  detail::throw_not_proved(detail::fence_try::lost);
}

}  // namespace

void fence(SQLite::Database& transaction, const fenced_leases& leases, const table_name& table) {
  prove(transaction, leases, table, fenced_rows::stay);
}

void release_with(SQLite::Database& transaction, const fenced_leases& leases,
                  const table_name& table) {
  prove(transaction, leases, table, fenced_rows::are_unset);
  for (const lease& each : leases.all()) detail::lease_riding::begin(each);
}

}  // namespace rowlock
