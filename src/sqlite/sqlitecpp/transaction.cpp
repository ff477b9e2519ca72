// Row locks and fences in a transaction on the caller's SQLite::Database.
#include "sqlite/transaction.hpp"

#include <SQLiteCpp/Database.h>

#include <memory>
#include <span>
#include <utility>

#include "base/reported.hpp"
#include "rowlock/error.hpp"
#include "rowlock/sqlite.hpp"
#include "sqlite/failure.hpp"
#include "sqlite/immediate.hpp"
#include "sqlite/sqlitecpp/errors.hpp"
#include "sqlite/transaction_state.hpp"
#include "sqlite/write_transaction.hpp"
#include "store/entity_sql.hpp"

namespace rowlock {

namespace {

using std::chrono::milliseconds;

constexpr const char* see_nested = "look at the nested exception";

/// Null if the transaction did not become the writer in time.
std::shared_ptr<sqlite::writer_ticket> try_begin(SQLite::Database& database,
                                                 milliseconds turn_timeout) {
  detail::recognise_sqlite_conflicts();
  try {
    return sqlite::try_begin(database.getHandle(), turn_timeout);
  } catch (const sqlite::failure& failed) {
    detail::throw_as_error(failed, detail::url_of(database), see_nested);
  }
}

}  // namespace

sqlite_transaction::sqlite_transaction(SQLite::Database& database, milliseconds turn_timeout)
    : database_{database}, ticket_{try_begin(database, turn_timeout)} {
  if (ticket_) return;
  throw sqlite::file_was_busy(database_.getHandle());
}

sqlite_transaction::~sqlite_transaction() {
  if (open_ && home_.is_here()) sqlite::roll_back(database_.getHandle());
}

void sqlite_transaction::end() noexcept {
  open_ = false;
  ticket_.reset();
}

void sqlite_transaction::abort() noexcept {
  if (!home_.is_here() || !open_) return;
  sqlite::roll_back(database_.getHandle());
  end();
  is_aborted_ = true;
}

void sqlite_transaction::commit() {
  home_.require();
  if (is_lent_) detail::throw_commit_in_callback();
  if (open_ && !sqlite::is_in_transaction(database_.getHandle())) {
    end();
    detail::throw_over_before_commit();
  }
  if (!open_) throw error{errc::misuse, "the transaction has ended already: begin another one"};
  try {
    sqlite::commit_begun(database_.getHandle());
    end();
  } catch (const sqlite::failure& failed) {
    if (sqlite::is_busy(failed) || failed.is_in_doubt()) {
      detail::throw_as_error(failed, detail::url_of(database_), see_nested);
    }
    // An error of the application: a deferred constraint, for instance.
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
  auto ticket = try_begin(database, slice);
  if (!ticket) return refusal{.reason = refusal_reason::busy};
  transaction.emplace(database, sqlite_transaction::begun{std::move(ticket)});
  return {};
}

std::optional<refusal> rows::begin_locked(std::optional<sqlite_transaction>& transaction,
                                          SQLite::Database& database, const lock_keys& keys,
                                          milliseconds slice, const table_name& table) {
  detail::recognise_sqlite_conflicts();
  auto begun = detail::on_lock_table(database, table, [&] {
    return sqlite::begin_locked(database.getHandle(), keys, slice, table);
  });
  if (begun.refused) return begun.refused;
  transaction.emplace(database, sqlite_transaction::begun{std::move(begun.ticket)});
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
  sqlite::count_failure(database.getHandle(), keys, table);
}

using detail::on_lock_table;

outcome<row_lock> lock_rows(SQLite::Database& transaction, const lock_keys& keys,
                            const wait_policy& /*wait*/, const table_name& table) {
  detail::recognise_sqlite_conflicts();
  return detail::reported_lock(keys, [&] {
    return on_lock_table(transaction, table,
                         [&] { return sqlite::lock_rows(transaction.getHandle(), keys, table); });
  });
}

outcome<version> read_version(SQLite::Database& transaction, const lock_key& key,
                              const table_name& table) {
  detail::recognise_sqlite_conflicts();
  return on_lock_table(transaction, table,
                       [&] { return sqlite::read_version(transaction.getHandle(), key, table); });
}

commit_result try_commit(SQLite::Database& transaction, const lock_key& key, version seen,
                         const table_name& table) {
  detail::recognise_sqlite_conflicts();
  return detail::reported_commit(key, [&] {
    return on_lock_table(transaction, table, [&] {
      return sqlite::try_commit(transaction.getHandle(), key, seen, table);
    });
  });
}

namespace {

auto on_entity(SQLite::Database& transaction, const auto& work) {
  detail::recognise_sqlite_conflicts();
  try {
    return work();
  } catch (const sqlite::failure& failed) {
    detail::throw_as_error(failed, detail::url_of(transaction), sqlite::compare_the_names);
  }
}

}  // namespace

commit_result try_commit(SQLite::Database& transaction, const versioned_table& table,
                         const row_id& id, std::int64_t seen) {
  return detail::reported_commit(table, id, [&] {
    return on_entity(transaction,
                     [&] { return sqlite::try_commit(transaction.getHandle(), table, id, seen); });
  });
}

outcome<std::int64_t> read_version(SQLite::Database& transaction, const versioned_table& table,
                                   const row_id& id) {
  return on_entity(transaction,
                   [&] { return sqlite::read_version(transaction.getHandle(), table, id); });
}

outcome<void> lock_entity(SQLite::Database& transaction, const entity_table& table,
                          const row_id& id, const wait_policy& /*wait*/) {
  return detail::reported_lock(table, id, [&] {
    return on_entity(transaction,
                     [&] { return sqlite::lock_entity(transaction.getHandle(), table, id); });
  });
}

namespace {

void prove(SQLite::Database& transaction, const fenced_leases& leases,
           std::span<const release_request> releases, const table_name& table) {
  detail::recognise_sqlite_conflicts();
  const auto proved = detail::on_lock_table(transaction, table, [&] {
    return sqlite::prove(transaction.getHandle(), leases, releases, table);
  });
  if (proved.found != detail::fence_try::held) {
    sqlite::roll_back(transaction.getHandle());
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
