// The schema of a SQLite file: whether it is fit for locks, and its migration.
#include "sqlite/schema.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <string_view>

#include "rowlock/error.hpp"
#include "sqlite/database_file.hpp"
#include "sqlite/immediate.hpp"
#include "sqlite/savepoint.hpp"
#include "sqlite/sql/history.hpp"
#include "sqlite/sql/leases.hpp"
#include "sqlite/statement.hpp"
#include "sqlite/write_transaction.hpp"
#include "store/found_columns.hpp"
#include "store/names.hpp"

namespace rowlock::sqlite {

namespace {

using detail::unfitness;

struct column {
  std::string name;
  std::string type;
  bool takes_null;
};

struct needed_column {
  std::string_view name;
  std::string_view type;
  bool takes_null;
};

/// The columns that mutual exclusion depends on.
constexpr std::array<needed_column, 6> needed_columns{{
    {"lock_type", "TEXT", false},
    {"source_id", "TEXT", false},
    {"version", "INTEGER", false},
    {"owner", "TEXT", true},
    {"expires_at", "TEXT", false},
    {"done_until", "TEXT", false},
}};

/// A table that SQLite finds by this name.
class known_table {
 public:
  known_table(sqlite3* database, std::string name, std::string schema)
      : database_{database}, name_{std::move(name)}, schema_{std::move(schema)} {}

  [[nodiscard]] bool has_the_primary_key() const {
    statement query{database_, sql::primary_key_of_table};
    std::vector<std::string> key;
    for (bind(query); query.has_next_row();) key.push_back(query.text(0) + ' ' + query.text(1));
    return key == std::vector<std::string>{"lock_type BINARY", "source_id BINARY"};
  }

  [[nodiscard]] std::vector<column> columns() const {
    statement query{database_, sql::columns_of_table};
    std::vector<column> found;
    for (bind(query); query.has_next_row();) {
      found.push_back({query.text(0), query.text(1), query.integer(2) != 0});
    }
    return found;
  }

 private:
  void bind(statement& query) const {
    query.bind(1, name_);
    query.bind(2, schema_);
  }

  sqlite3* database_;
  std::string name_;
  std::string schema_;
};

std::optional<unfitness> unfitness_in(const std::vector<column>& columns) {
  const auto column_of = [&](std::string_view name) {
    return std::find_if(columns.begin(), columns.end(),
                        [&](const column& each) { return each.name == name; });
  };
  for (const auto& needed : needed_columns) {
    const std::string name{needed.name};
    const auto found = column_of(needed.name);
    if (found == columns.end()) return unfitness{"has no column " + name};
    if (found->type != needed.type) {
      return unfitness{"has another type of column " + name + " than " + std::string{needed.type}};
    }
    if (found->takes_null != needed.takes_null) {
      return unfitness{std::string{"takes "} + (needed.takes_null ? "no " : "") +
                       "NULL in column " + name};
    }
  }
  for (const auto& name : detail::row_columns) {
    if (detail::is_computed(name)) continue;
    if (column_of(name) == columns.end()) return unfitness{"has no column " + std::string{name}};
  }
  return std::nullopt;
}

}  // namespace

std::optional<unfitness> unfitness_of(sqlite3* database, const table_name& table) {
  const auto [schema, name] = detail::parts_of(table.text());
  statement kind{database, sql::kind_of_table};
  kind.bind(1, name);
  kind.bind(2, schema);
  if (!kind.has_next_row()) return {};

  if (kind.text(0) == "temp") {
    return unfitness{"is a temporary table of this connection, which no other sees",
                     "drop it, or name the table with its schema, main"};
  }
  if (kind.text(1) != "table") {
    return unfitness{"is a " + kind.text(1) + ", not a table", detail::drop_and_make_anew(table)};
  }
  const known_table found{database, name, kind.text(0)};
  if (!found.has_the_primary_key()) {
    return unfitness{
        "has no primary key on (lock_type, source_id), so that a key may have two rows"};
  }
  if (kind.integer(2) == 0) return unfitness{"is not STRICT and WITHOUT ROWID"};
  return unfitness_in(found.columns());
}

void check_table(sqlite3* database, row_statements& rows, const table_name& table,
                 const std::string& where) {
  const auto number = rows.last_migration();
  if (!number && file_of(database).empty()) {
    throw error{errc::rejected,
                "there is no table " + table.text() +
                    " in this database, which is in memory, where no command reaches it: execute "
                    "what sqlite_migrations() returns on the connection, or open a file"};
  }
  const auto found = unfitness_of(database, table);
  if (found && !number) detail::throw_unknown(table, *found);
  detail::check_schema(number, sqlite_migrations(table), table, where);
  if (found) detail::throw_unfit(table, *found);
}

namespace {

/// Other processes may be migrating the same file, each for milliseconds.
constexpr std::chrono::seconds longest_wait{30};

std::vector<migration> still_missing(sqlite3* database, const table_name& table) {
  row_statements rows{database, table};
  return detail::missing_migrations(rows.last_migration(), sqlite_migrations(table), table);
}

/// Whether the history is to be begun or ended, and is not so already.
bool changes_history(sqlite3* database, const table_name& table, history_option wanted) {
  if (wanted == history_option::unchanged) return false;
  statement parts{database, sql::parts_of_history};
  const auto name = detail::parts_of(table.text()).table;
  parts.bind(1, name);
  if (!parts.has_next_row()) return false;
  const auto triggers = parts.integer(1);
  return wanted == history_option::with ? parts.integer(0) < 1 || triggers < 2 : triggers > 0;
}

error in_the_way_of(const migration& step, sqlite3* database, const std::string& why) {
  return error{errc::rejected, url_of(database) + ": migration " + std::to_string(step.number) +
                                   " cannot be applied (" + why +
                                   "): tables that are not rowlock's are in the "
                                   "way; rename them, or give rowlock's another name"};
}

void apply(sqlite3* database, const migration& step, const table_name& table) {
  // A table that exists already is left as it is.
  if (const auto found = unfitness_of(database, table)) detail::throw_unknown(table, *found);
  try {
    execute(database, step.up);
  } catch (const failure& thrown) {
    if (thrown.code() != SQLITE_ERROR) throw;
    std::throw_with_nested(in_the_way_of(step, database, thrown.what()));
  }
}

/// None if the history was begun before.
std::optional<migration> begin_history(sqlite3* database, const table_name& table) {
  std::optional<migration> begun;
  if (changes_history(database, table, history_option::with)) begun = sqlite_history(table);
  try {
    if (begun) execute(database, begun->up);
    const savepoint undone{database};
    execute(database, table.in(sql::try_event));
  } catch (const failure& thrown) {
    if (!is_about_schema(thrown) && !is_about_value(thrown)) throw;
    detail::throw_other_event_table(table);
  }
  return begun;
}

/// None if there is none.
std::optional<migration> end_history(sqlite3* database, const table_name& table) {
  if (!changes_history(database, table, history_option::without)) return std::nullopt;
  auto ended = sqlite_history(table);
  execute(database, ended.down);
  return ended;
}

}  // namespace

void check_schema_name(const table_name& table) {
  if (detail::parts_of(table.text()).schema.value_or("main") == "main") return;
  throw error{errc::misuse, "a SQLite file has no schema but main: name the table without one"};
}

std::vector<migration> migrate(sqlite3* database, const table_name& table, history_option history) {
  busy_wait wait{longest_wait};
  bool is_complete = false;
  until_not_busy(wait, [&] {
    require_writable(database);
    prepare_connection(database);
    switch_to_wal(database, wait);
    is_complete = history != history_option::with && still_missing(database, table).empty() &&
                  !changes_history(database, table, history);
  });
  if (is_complete) {
    if (const auto found = unfitness_of(database, table)) detail::throw_unfit(table, *found);
    return {};
  }

  const auto ticket = try_begin(database, longest_wait);
  if (!ticket) throw file_was_busy(database);
  try {
    auto missing = still_missing(database, table);  // another process may have been faster
    for (const auto& step : missing) apply(database, step, table);
    if (history != history_option::unchanged) {
      auto changed = history == history_option::with ? begin_history(database, table)
                                                     : end_history(database, table);
      if (changed) missing.push_back(*std::move(changed));
    }
    commit_begun(database);
    return missing;
  } catch (...) {
    roll_back(database);
    throw;
  }
}

}  // namespace rowlock::sqlite
