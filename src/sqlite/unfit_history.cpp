// The end of a history whose table its triggers cannot write.
#include "sqlite/unfit_history.hpp"

#include <optional>

#include "rowlock/error.hpp"
#include "sqlite/savepoint.hpp"
#include "sqlite/sql/history.hpp"
#include "sqlite/sql/leases.hpp"
#include "sqlite/statement.hpp"
#include "store/names.hpp"

namespace rowlock::sqlite {

namespace {

/// With its schema: the triggers are in the schema of their table. None without a table, and where
/// the schema's name is none that a lock table can have.
std::optional<table_name> with_schema(sqlite3* database, const table_name& table) {
  const auto [schema, name] = detail::parts_of(table.text());
  statement kind{database, sql::kind_of_table};
  kind.bind(1, name);
  kind.bind(2, schema);
  if (!kind.has_next_row()) return std::nullopt;
  try {
    return table_name{kind.text(0) + '.' + name};
  } catch (const error&) {
    return std::nullopt;
  }
}

bool takes_events(sqlite3* database, const table_name& table) {
  try {
    const statement writes_one{database, table.in(sql::try_event)};
    return true;
  } catch (const failure& thrown) {
    if (!is_about_schema(thrown)) throw;
    return false;
  }
}

}  // namespace

void end_unfit_history(sqlite3* database, const table_name& table) {
  savepoint all_or_nothing{database};
  const auto found = with_schema(database, table);
  if (!found || takes_events(database, *found)) return;
  execute(database, found->in(sql::drop_triggers));
  all_or_nothing.release();
}

}  // namespace rowlock::sqlite
