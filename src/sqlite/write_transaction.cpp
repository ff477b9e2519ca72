// Write transactions of the application: with a ticket, and with locked rows.
#include "sqlite/write_transaction.hpp"

#include <utility>

#include "sqlite/database_file.hpp"
#include "sqlite/immediate.hpp"
#include "sqlite/open_files.hpp"
#include "sqlite/row_statements.hpp"
#include "sqlite/sql/transactions.hpp"
#include "sqlite/statement.hpp"
#include "sqlite/transaction.hpp"
#include "sqlite/transaction_state.hpp"

namespace rowlock::sqlite {

namespace {

std::optional<refusal> find_leases(sqlite3* database, const lock_keys& keys,
                                   const table_name& table) {
  row_statements rows{database, table};
  for (const auto& key : keys.in_order()) {
    try {
      const auto found = rows.read(key);
      if (found && found->state.is_live()) return held_by(*found);
    } catch (const failure& thrown) {
      if (!is_busy(thrown)) throw;
      return busy_at(key);
    }
  }
  return {};
}

}  // namespace

std::shared_ptr<writer_ticket> try_begin(sqlite3* database,
                                         std::chrono::milliseconds turn_timeout) {
  note_open(database);
  if (is_in_transaction(database)) {
    throw error{errc::misuse, "the connection has an open transaction already: end it first"};
  }
  const without_busy_timeout ours{database};
  busy_wait wait{turn_timeout};
  auto ticket = std::make_shared<writer_ticket>(database, wait.end());
  if (!begin_immediate(database, wait)) ticket.reset();
  return ticket;
}

locked_transaction begin_locked(sqlite3* database, const lock_keys& keys,
                                std::chrono::milliseconds turn_timeout, const table_name& table) {
  note_open(database);
  if (auto refused = find_leases(database, keys, table)) return {.refused = refused};
  auto ticket = try_begin(database, turn_timeout);
  if (!ticket) return {.refused = busy_at(keys.in_order().front())};
  try {
    const auto locked = lock_rows(database, keys, table);
    if (locked.acquired()) return {.ticket = std::move(ticket)};
    roll_back(database);
    return {.refused = locked.refusal()};
  } catch (...) {
    roll_back(database);
    throw;
  }
}

error file_was_busy(sqlite3* database) {
  return error{errc::unavailable, url_of(database) +
                                      ": others wrote to the file for longer than turn_timeout: "
                                      "try again, and keep transactions short"};
}

void commit_begun(sqlite3* database) {
  busy_wait wait{default_wait};
  commit(database, wait);
}

void count_failure(sqlite3* database, const lock_keys& keys, const table_name& table) noexcept {
  try {
    const auto ticket = try_begin(database, std::chrono::milliseconds::zero());
    if (!ticket) return;
    try {
      row_statements rows{database, table};
      for (const auto& key : keys.in_order()) {
        rows.change(sql::count_failure, key.type, key.source_id);
      }
      commit_begun(database);
    } catch (...) {
      roll_back(database);
    }
  } catch (...) {  // best effort: the callback's own exception matters more
  }
}

}  // namespace rowlock::sqlite
