// Locks and versions inside a transaction of the application.
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Savepoint.h>
#include <SQLiteCpp/Statement.h>
#include <sqlite3.h>

#include <utility>
#include <variant>

#include "rowlock/error.hpp"
#include "rowlock/sqlite.hpp"
#include "sql/schema_check.hpp"
#include "sql/versioned_update.hpp"
#include "sqlite/caller_transaction.hpp"
#include "sqlite/row_statements.hpp"
#include "sqlite/sqlite_errors.hpp"
#include "sqlite/sqlite_file.hpp"

namespace rowlock {

namespace {

using detail::on_lock_table;
using detail::require_immediate_transaction;
using detail::require_transaction;

/// Stale also when a deferred transaction cannot become the writer: somebody else is, or was since
/// it began.
commit_result stale_if_busy(const auto& version_was_moved) {
  try {
    return version_was_moved() ? commit_result::committed : commit_result::stale;
  } catch (const SQLite::Exception& thrown) {
    if (!detail::is_busy(thrown)) throw;
    return commit_result::stale;
  }
}

}  // namespace

outcome<row_lock> lock_rows(SQLite::Database& transaction, const lock_keys& keys,
                            const retry_policy& /*wait*/, const table_name& table) {
  require_immediate_transaction(transaction);
  return on_lock_table<outcome<row_lock>>(transaction, table, [&]() -> outcome<row_lock> {
    detail::row_statements rows{transaction, table};
    // Rolled back by its destructor, so that a refusal keeps no row.
    SQLite::Savepoint all_or_nothing{transaction, "rowlock"};
    row_lock locked;
    for (const auto& key : keys.in_order()) {
      if (const auto moved = rows.lock(key)) {
        locked.rows.push_back({.key = key, .version = *moved});
        continue;
      }
      const auto found = rows.read(key);
      if (found && found->state.is_live()) return detail::held_by(*found);
      return detail::busy_at(key);
    }
    all_or_nothing.release();
    return locked;
  });
}

outcome<version> read_version(SQLite::Database& transaction, const lock_key& key,
                              const table_name& table) {
  check(key);
  require_transaction(transaction);
  return on_lock_table<outcome<version>>(transaction, table, [&]() -> outcome<version> {
    detail::row_statements rows{transaction, table};
    try {
      auto found = rows.read(key);
      if (!found || (found->state.owned && !found->state.is_live())) {
        rows.prepare(key);
        found = rows.read(key);
      }
      if (!found) return detail::busy_at(key);
      if (found->state.owned) return detail::held_by(*found);
      return found->state.version;
    } catch (const SQLite::Exception& thrown) {
      if (!detail::is_busy(thrown)) throw;
      return detail::busy_at(key);
    }
  });
}

commit_result try_commit(SQLite::Database& transaction, const lock_key& key, version seen,
                         const table_name& table) {
  check(key);
  require_transaction(transaction);
  return on_lock_table<commit_result>(transaction, table, [&] {
    return stale_if_busy([&] {
      return detail::row_statements{transaction, table}.commit(key, seen);
    });
  });
}

commit_result try_commit(SQLite::Database& transaction, const versioned_table& table,
                         const row_id& id, std::int64_t seen) {
  const std::string sql = sql::versioned_update(table);
  require_transaction(transaction);
  try {
    return stale_if_busy([&] {
      SQLite::Statement update{transaction, sql};
      std::visit([&](const auto& value) { update.bind(1, value); }, id);
      update.bind(2, seen);
      return update.exec() > 0;
    });
  } catch (const SQLite::Exception& thrown) {
    detail::throw_error(thrown, detail::url_of(transaction),
                        "compare the names in versioned_table with the schema");
  }
}

}  // namespace rowlock
