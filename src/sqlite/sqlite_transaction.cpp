// IMMEDIATE transactions on a connection of the application.
#include <SQLiteCpp/Database.h>
#include <sqlite3.h>

#include <memory>
#include <utility>

#include "rowlock/error.hpp"
#include "rowlock/sqlite.hpp"
#include "sql/schema_check.hpp"
#include "sqlite/row_statements.hpp"
#include "sqlite/sqlite_errors.hpp"
#include "sqlite/sqlite_file.hpp"
#include "sqlite/write_turn.hpp"
#include "sqlite/writing.hpp"

namespace rowlock {

namespace {

using std::chrono::milliseconds;

constexpr const char* look_inside = "look at the nested exception";
constexpr milliseconds default_turn = std::chrono::seconds{1};

/// Null when its turn did not come.
std::shared_ptr<detail::write_turn> try_begin(SQLite::Database& database,
                                              milliseconds turn_timeout) {
  detail::recognise_sqlite_conflicts();
  if (sqlite3_get_autocommit(database.getHandle()) == 0) {
    throw error{errc::misuse, "the connection has an open transaction already: end it first"};
  }
  try {
    const detail::without_busy_timeout ours{database};
    detail::patience wait{turn_timeout};
    auto turn = std::make_shared<detail::write_turn>(database, wait.end());
    if (!detail::begin_immediate(database, wait)) turn.reset();
    return turn;
  } catch (const SQLite::Exception& thrown) {
    detail::throw_error(thrown, detail::url_of(database), look_inside);
  }
}

/// A live lease, found by a read, which keeps nobody from writing.
std::optional<refusal> look_for_leases(SQLite::Database& database, const lock_keys& keys,
                                       const table_name& table) {
  detail::row_statements rows{database, table};
  for (const auto& key : keys.in_order()) {
    try {
      const auto found = rows.read(key);
      if (found && found->state.is_live()) return detail::held_by(*found);
    } catch (const SQLite::Exception& thrown) {
      if (detail::is_busy(thrown)) return detail::busy_at(key);
      const auto where = detail::url_of(database);
      detail::throw_error(thrown, where, sql::how_to_migrate(where, table));
    }
  }
  return {};
}

}  // namespace

sqlite_transaction::sqlite_transaction(SQLite::Database& database, milliseconds turn_timeout)
    : database_{database}, turn_{try_begin(database, turn_timeout)} {
  if (turn_) return;
  throw error{errc::unavailable, detail::url_of(database_) +
                                     ": others wrote to the file for longer than turn_timeout: "
                                     "try again, and keep transactions short"};
}

sqlite_transaction::~sqlite_transaction() {
  if (open_ && home_.is_here()) detail::roll_back(database_);
}

void sqlite_transaction::end() noexcept {
  open_ = false;
  turn_.reset();
}

void sqlite_transaction::commit() {
  home_.require();
  // A fence on the connection itself may have rolled back.
  if (open_ && sqlite3_get_autocommit(database_.getHandle()) != 0) end();
  if (!open_) throw error{errc::misuse, "the transaction has ended already: begin another one"};
  try {
    detail::patience wait{default_turn};
    detail::commit(database_, wait);
    end();
  } catch (const SQLite::Exception& thrown) {
    if (detail::is_busy(thrown))
      detail::throw_error(thrown, detail::url_of(database_), look_inside);
    throw;
  }
}

using rows = row_transaction<sqlite_transaction>;

void rows::fence(sqlite_transaction& transaction, const fenced_leases& leases,
                 const fence_options& /*options*/, const table_name& table) {
  try {
    rowlock::fence(transaction.database_, leases, table);
  } catch (const lease_lost&) {
    transaction.end();
    throw;
  }
}

void rows::release_with(sqlite_transaction& transaction, const fenced_leases& leases,
                        const table_name& table) {
  try {
    rowlock::release_with(transaction.database_, leases, table);
  } catch (const lease_lost&) {
    transaction.end();
    throw;
  }
}

std::optional<refusal> rows::begin(std::optional<sqlite_transaction>& transaction,
                                   SQLite::Database& database, milliseconds slice) {
  auto turn = try_begin(database, slice);
  if (!turn) return refusal{.reason = refusal_reason::busy};
  transaction.emplace(database, sqlite_transaction::begun{std::move(turn)});
  return {};
}

std::optional<refusal> rows::begin_locked(std::optional<sqlite_transaction>& transaction,
                                          SQLite::Database& database, const lock_keys& keys,
                                          milliseconds slice, const table_name& table) {
  if (auto refused = look_for_leases(database, keys, table)) return refused;
  auto turn = try_begin(database, slice);
  if (!turn) return detail::busy_at(keys.in_order().front());
  transaction.emplace(database, sqlite_transaction::begun{std::move(turn)});
  auto locked = lock_rows(database, keys, no_wait(), table);
  if (locked.acquired()) return {};
  transaction.reset();
  return locked.refusal();
}

outcome<version> rows::read(sqlite_transaction& transaction, const lock_key& key,
                            const table_name& table) {
  return read_version(transaction.database(), key, table);
}

commit_result rows::try_commit(sqlite_transaction& transaction, const lock_key& key, version seen,
                               const table_name& table) {
  return rowlock::try_commit(transaction.database(), key, seen, table);
}

void rows::count_failure(SQLite::Database& database, const lock_keys& keys,
                         const table_name& table) noexcept {
  try {
    sqlite_transaction counting{database, milliseconds::zero()};
    detail::row_statements statements{database, table};
    for (const auto& key : keys.in_order()) statements.count_failure(key);
    counting.commit();
  } catch (...) {  // best effort: the callback's own exception matters more
  }
}

}  // namespace rowlock
