// IMMEDIATE transactions on a connection of the application.
#include <SQLiteCpp/Database.h>

#include <memory>
#include <utility>

#include "rowlock/error.hpp"
#include "rowlock/sqlite.hpp"
#include "sqlite/caller_transaction.hpp"
#include "sqlite/result_codes.hpp"
#include "sqlite/sqlitecpp/errors.hpp"
#include "sqlite/write_transaction.hpp"
#include "sqlite/writing.hpp"

namespace rowlock {

namespace {

using std::chrono::milliseconds;

constexpr const char* look_inside = "look at the nested exception";

/// Null when its turn did not come.
std::shared_ptr<on_sqlite::write_turn> try_begin(SQLite::Database& database,
                                                 milliseconds turn_timeout) {
  detail::recognise_sqlite_conflicts();
  try {
    return on_sqlite::try_begin(database.getHandle(), turn_timeout);
  } catch (const on_sqlite::failure& failed) {
    detail::throw_as_error(failed, detail::url_of(database), look_inside);
  }
}

}  // namespace

sqlite_transaction::sqlite_transaction(SQLite::Database& database, milliseconds turn_timeout)
    : database_{database}, turn_{try_begin(database, turn_timeout)} {
  if (turn_) return;
  throw on_sqlite::turn_did_not_come(database_.getHandle());
}

sqlite_transaction::~sqlite_transaction() {
  if (open_ && home_.is_here()) on_sqlite::roll_back(database_.getHandle());
}

void sqlite_transaction::end() noexcept {
  open_ = false;
  turn_.reset();
}

void sqlite_transaction::abort() noexcept {
  if (!home_.is_here() || !open_) return;
  on_sqlite::roll_back(database_.getHandle());
  end();
  is_aborted_ = true;
}

void sqlite_transaction::commit() {
  home_.require();
  if (is_lent_) detail::throw_commit_in_callback();
  // A fence on the connection itself may have rolled back.
  if (open_ && !on_sqlite::is_in_transaction(database_.getHandle())) end();
  if (!open_) throw error{errc::misuse, "the transaction has ended already: begin another one"};
  try {
    on_sqlite::commit_begun(database_.getHandle());
    end();
  } catch (const on_sqlite::failure& failed) {
    if (on_sqlite::is_busy(failed) || failed.is_in_doubt()) {
      detail::throw_as_error(failed, detail::url_of(database_), look_inside);
    }
    // The application's own affair: a deferred constraint, for instance.
    detail::throw_as_driver(failed);
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
                        const release_options& options, const table_name& table) {
  try {
    rowlock::release_with(transaction.database_, leases, options, table);
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
  detail::recognise_sqlite_conflicts();
  auto begun = detail::on_lock_table(database, table, [&] {
    return on_sqlite::begin_locked(database.getHandle(), keys, slice, table);
  });
  if (begun.refused) return begun.refused;
  transaction.emplace(database, sqlite_transaction::begun{std::move(begun.turn)});
  return {};
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
  on_sqlite::count_failure(database.getHandle(), keys, table);
}

}  // namespace rowlock
