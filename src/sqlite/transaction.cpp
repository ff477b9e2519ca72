// Row locks, versions and proofs in the caller's transaction.
#include "sqlite/transaction.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "rowlock/error.hpp"
#include "sqlite/row_statements.hpp"
#include "sqlite/savepoint.hpp"
#include "sqlite/sql/leases.hpp"
#include "sqlite/sql/transactions.hpp"
#include "sqlite/statement.hpp"
#include "sqlite/transaction_state.hpp"
#include "store/entity_sql.hpp"
#include "store/names.hpp"

namespace rowlock::sqlite {

namespace {

/// Stale also if a deferred transaction cannot become the writer: another one is, or was since it
/// began.
commit_result stale_if_busy(const auto& version_was_moved) {
  try {
    return version_was_moved() ? commit_result::committed : commit_result::stale;
  } catch (const failure& thrown) {
    if (!is_busy(thrown)) throw;
    return commit_result::stale;
  }
}

bool are_held(row_statements& rows, const fenced_leases& leases) {
  const auto& all = leases.all();
  return std::all_of(all.begin(), all.end(), [&](const lease& each) {
    const auto found = rows.read(each.key());
    return found && found->state.owned && found->state.version == each.token();
  });
}

struct database_of_connection {
  std::string schema;
  std::string path;
};

std::vector<database_of_connection> databases_of(sqlite3* connection) {
  std::vector<database_of_connection> found;
  statement each{connection, sql::databases_of_connection};
  while (each.has_next_row()) found.push_back({each.text(1), each.text(2)});
  return found;
}

bool has_table(sqlite3* connection, const std::string& schema, const std::string& table) {
  return sqlite3_table_column_metadata(connection, schema.c_str(), table.c_str(), nullptr, nullptr,
                                       nullptr, nullptr, nullptr, nullptr) == SQLITE_OK;
}

bool is_in_wal(sqlite3* connection, const std::string& schema) {
  statement mode{connection,
                 detail::with_words(sql::journal_mode, {{"schema", '"' + schema + '"'}})};
  return mode.has_next_row() && mode.text(0) == "wal";
}

/// Files in WAL mode are committed one after the other: a crash between them leaves the work
/// without what the library writes beside it, or that without the work. Throws `error` (rejected)
/// if the lock table is in an attached file, so that the main file, in which the work most likely
/// is, is committed apart from it.
void require_one_commit(sqlite3* transaction, const table_name& table) {
  const auto databases = databases_of(transaction);
  const auto is_main = [](const database_of_connection& each) { return each.schema == "main"; };
  const auto main = std::ranges::find_if(databases, is_main);
  if (databases.size() == 1 || main == databases.end() || main->path.empty()) return;
  const auto named = detail::parts_of(table.text());
  const auto its = std::ranges::find_if(databases, [&](const database_of_connection& each) {
    return named.schema ? sqlite3_stricmp(named.schema->c_str(), each.schema.c_str()) == 0
                        : has_table(transaction, each.schema, named.table);
  });
  if (its == databases.end() || its == main || its->path.empty()) return;
  if (!is_in_wal(transaction, "main") && !is_in_wal(transaction, its->schema)) return;
  throw error{errc::rejected,
              "the lock table is in the attached file " + its->path +
                  ", and SQLite commits files in WAL mode one after the other: a crash could keep "
                  "the work and lose what this call writes, or the reverse; open that file as the "
                  "main one, and do the work in it (a fence works as it is)"};
}

}  // namespace

outcome<row_lock> lock_rows(sqlite3* transaction, const lock_keys& keys, const table_name& table) {
  require_immediate_transaction(transaction);
  require_one_commit(transaction, table);
  row_statements rows{transaction, table};
  // Its destructor rolls back, so that a refusal keeps no row.
  savepoint all_or_nothing{transaction};
  row_lock locked;
  for (const auto& key : keys.in_order()) {
    if (const auto moved = rows.lock(key)) {
      locked.rows.push_back({.key = key, .version = *moved});
      continue;
    }
    const auto found = rows.read(key);
    if (found && found->state.is_live()) return held_by(*found);
    return busy_at(key);
  }
  all_or_nothing.release();
  return locked;
}

outcome<version> read_version(sqlite3* transaction, const lock_key& key, const table_name& table) {
  check(key);
  require_transaction(transaction);
  row_statements rows{transaction, table};
  try {
    auto found = rows.read(key);
    if (!found || (found->state.owned && !found->state.is_live())) {
      rows.prepare(key);
      found = rows.read(key);
    }
    if (!found) return busy_at(key);
    if (found->state.owned || found->state.is_live()) return held_by(*found);
    return found->state.version;
  } catch (const failure& thrown) {
    if (!is_busy(thrown)) throw;
    return busy_at(key);
  }
}

commit_result try_commit(sqlite3* transaction, const lock_key& key, version seen,
                         const table_name& table) {
  check(key);
  require_transaction(transaction);
  require_one_commit(transaction, table);
  return stale_if_busy([&] {
    return row_statements{transaction, table}.change(sql::advance, key.type, key.source_id,
                                                     seen.number) == 1;
  });
}

namespace {

detail::sql_words words_for(const auto& table, const row_id& id) {
  auto words = detail::words_for(table, id, {.parameter = "?"});
  words.emplace("microseconds", sql::microseconds);
  words.emplace("now_us", sql::now_us);
  return words;
}

/// Throws `error` (rejected) for a view: its rows are those of other tables, in any file.
void require_table(sqlite3* transaction, const std::string& name) {
  const auto [schema, table] = detail::parts_of(name);
  const auto found =
      sqlite3_table_column_metadata(transaction, schema ? schema->c_str() : nullptr, table.c_str(),
                                    nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  if (found != SQLITE_ERROR) return;
  throw error{errc::rejected,
              name + " is missing, or is a view, whose rows cannot be locked: name a table"};
}

/// Returns the last place.
int bind_id(statement& bound, const row_id& id) {
  int place = 0;
  for (const auto& part : id.parts()) {
    std::visit([&](const auto& value) { bound.bind(++place, value); }, part);
  }
  return place;
}

}  // namespace

outcome<void> lock_entity(sqlite3* transaction, const entity_table& table, const row_id& id) {
  const auto words = words_for(table, id);
  require_immediate_transaction(transaction);
  require_table(transaction, table.table);
  // A transaction that has written another attached file is not yet the writer of the row's file.
  // Once it is, nothing else can lock or change the row.
  try {
    statement{transaction, detail::with_words(sql::become_entity_writer, words)}.changed_rows();
  } catch (const failure& thrown) {
    if (!is_busy(thrown)) throw;
    // BUSY_SNAPSHOT: another transaction has written the file after this one had read it.
    const bool is_stale = sqlite3_extended_errcode(transaction) == SQLITE_BUSY_SNAPSHOT;
    return detail::refused_entity(is_stale ? refusal_reason::stale : refusal_reason::busy,
                                  table.table, id);
  }
  statement find{transaction, detail::with_words(sql::find_entity, words)};
  bind_id(find, id);
  if (find.has_next_row()) return outcome<void>{true};
  return detail::refused_entity(refusal_reason::missing, table.table, id);
}

namespace {

/// None if there is no row. Throws the `error` (rejected) for a value that is no version.
std::optional<std::int64_t> find_version(sqlite3* transaction, const versioned_table& table,
                                         const row_id& id) {
  const bool is_time = table.version_is == version_kind::timestamp;
  statement select{transaction, detail::with_words(is_time ? sql::read_time : sql::read_number,
                                                   words_for(table, id))};
  bind_id(select, id);
  if (!select.has_next_row()) return {};
  if (select.is_null(0)) detail::throw_no_version(table);
  return select.integer(0);
}

}  // namespace

outcome<std::int64_t> read_version(sqlite3* transaction, const versioned_table& table,
                                   const row_id& id) {
  require_transaction(transaction);
  if (const auto found = find_version(transaction, table, id)) return *found;
  return detail::refused_entity(refusal_reason::missing, table.table, id);
}

commit_result try_commit(sqlite3* transaction, const versioned_table& table, const row_id& id,
                         std::int64_t seen) {
  const bool is_time = table.version_is == version_kind::timestamp;
  const auto words = words_for(table, id);
  detail::check_next(table, seen);
  require_transaction(transaction);
  const auto result = stale_if_busy([&] {
    statement update{transaction,
                     detail::with_words(is_time ? sql::advance_time : sql::advance_number, words)};
    const auto places = bind_id(update, id);
    update.bind(places + 1, seen);
    return update.changed_rows() > 0;
  });
  if (result == commit_result::committed) {
    // Read anew, as RETURNING would not show what a trigger has set.
    detail::require_moved(table, seen, find_version(transaction, table, id));
  }
  return result;
}

detail::fence_proof prove(sqlite3* transaction, const fenced_leases& leases,
                          std::span<const release_request> releases, const table_name& table) {
  require_immediate_transaction(transaction);
  if (!releases.empty()) require_one_commit(transaction, table);
  row_statements rows{transaction, table};
  detail::fence_proof proved{};
  proved.found = detail::prove_patiently(leases, [&] {
    // A transaction that has written an attached file is not yet the writer of this one.
    rows.change(sql::become_writer);
    // This transaction is the file's one writer, so what it reads stays true until it ends.
    if (!are_held(rows, leases)) return detail::fence_try::lost;
    savepoint all_or_nothing{transaction};
    for (const auto& each : releases) {
      if (!rows.release(each)) return detail::fence_try::lost;
      proved.unset_as.push_back(rows.read(each.key)->state.version);
    }
    all_or_nothing.release();
    return detail::fence_try::held;
  });
  return proved;
}

}  // namespace rowlock::sqlite
