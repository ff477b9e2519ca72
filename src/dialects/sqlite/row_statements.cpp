// The statements on the lock table, on one connection.
#include "dialects/sqlite/row_statements.hpp"

#include <sqlite3.h>

#include <chrono>
#include <utility>

#include "sql/schema_check.hpp"
#include "sql/sqlite_statements.hpp"

namespace rowlock::on_sqlite {

namespace {

namespace text = sql::sqlite;
using std::chrono::microseconds;

/// One use of a prepared statement. A SELECT that is not reset keeps its read transaction open.
class use {
 public:
  template <class... Values>
  explicit use(statement& prepared, const Values&... values) : statement_{prepared} {
    int place = 0;
    (statement_.bind(++place, values), ...);
  }
  use(const use&) = delete;
  use& operator=(const use&) = delete;
  ~use() { statement_.reset(); }

  [[nodiscard]] bool has_next_row() { return statement_.has_next_row(); }

  int changed_rows() { return statement_.changed_rows(); }

  /// To the end of the statement: it commits there, and a destructor would swallow a failure.
  std::optional<version> only_version() {
    std::optional<version> only;
    while (statement_.has_next_row()) only = version{statement_.integer(0)};
    return only;
  }

 private:
  statement& statement_;
};

/// Milliseconds are what SQLite counts in; rounded up, so that the database never frees a row
/// sooner than its holder believes.
std::string as_modifier(microseconds ttl) {
  const auto millis = std::chrono::ceil<std::chrono::milliseconds>(ttl).count();
  const std::string fraction = std::to_string(millis % 1000);
  return '+' + std::to_string(millis / 1000) + '.' + std::string(3 - fraction.size(), '0') +
         fraction + " seconds";
}

found_row row_in(const statement& at) {
  found_row found{
      .state = {.key = {.type = at.text(0), .source_id = at.text(1)},
                .version = {at.integer(2)},
                .owned = !at.is_null(3)},
      .owner = at.text(3),
  };
  if (found.state.owned) {
    found.state.holder = at.text(4);
    found.state.acquired_at = at.text(5);
    found.state.remaining = microseconds{at.integer(6)};
  }
  found.state.failure_count = at.integer(7);
  found.state.expiry_count = at.integer(8);
  return found;
}

}  // namespace

refusal held_by(const found_row& found) {
  return {.reason = refusal_reason::held,
          .key = found.state.key,
          .holder = found.state.holder,
          .remaining = found.state.remaining,
          .current = found.state.version};
}

refusal busy_at(const lock_key& key) { return {.reason = refusal_reason::busy, .key = key}; }

row_statements::row_statements(sqlite3* database, table_name table)
    : database_{database}, table_{std::move(table)} {}

statement& row_statements::prepared(std::string_view plain) {
  auto found = prepared_.find(plain);
  if (found == prepared_.end()) {
    found = prepared_.try_emplace(plain, database_, table_.in(plain)).first;
  }
  return found->second;
}

std::optional<found_row> row_statements::read(const lock_key& key) {
  auto& select = prepared(text::read_row);
  use once{select, key.type, key.source_id};
  if (!once.has_next_row()) return {};
  return row_in(select);
}

std::vector<row_state> row_statements::list() {
  auto& select = prepared(text::list_owned_rows);
  use once{select};
  std::vector<row_state> rows;
  while (once.has_next_row()) rows.push_back(row_in(select).state);
  return rows;
}

std::optional<version> row_statements::acquire(const acquire_request& request) {
  const auto& [key, owner, holder, ttl, expected] = request;
  if (!expected) {
    return use{
        prepared(text::acquire_row), key.type, key.source_id, owner.text, holder, as_modifier(ttl)}
        .only_version();
  }
  return use{prepared(text::acquire_row_at_version),
             key.type,
             key.source_id,
             owner.text,
             holder,
             as_modifier(ttl),
             expected->number}
      .only_version();
}

bool row_statements::renew(const renew_request& request) {
  const auto& [key, owner, granted, ttl] = request;
  return use{prepared(text::renew_row), key.type, key.source_id, owner.text, granted.number,
             as_modifier(ttl)}
             .changed_rows() == 1;
}

bool row_statements::release(const release_request& request) {
  const auto& [key, owner, granted, failed] = request;
  return use{prepared(text::release_row),
             key.type,
             key.source_id,
             owner.text,
             granted.number,
             failed ? 1 : 0}
             .changed_rows() == 1;
}

void row_statements::prepare(const lock_key& key) {
  use{prepared(text::prepare_row), key.type, key.source_id}.changed_rows();
}

std::optional<version> row_statements::lock(const lock_key& key) {
  return use{prepared(text::lock_row), key.type, key.source_id}.only_version();
}

bool row_statements::commit(const lock_key& key, version seen) {
  return use{prepared(text::commit_version), key.type, key.source_id, seen.number}.changed_rows() ==
         1;
}

void row_statements::count_failure(const lock_key& key) {
  use{prepared(text::count_failure), key.type, key.source_id}.changed_rows();
}

void row_statements::become_writer() { use{prepared(text::become_writer)}.changed_rows(); }

std::optional<std::int64_t> row_statements::first_number(std::string_view plain) {
  try {
    use once{prepared(plain)};
    return once.has_next_row() ? prepared(plain).integer(0) : 0;
  } catch (const failure& thrown) {
    if (thrown.code() == SQLITE_ERROR) return {};
    throw;
  }
}

std::optional<int> row_statements::last_migration() {
  const auto number = first_number(text::last_migration);
  if (!number) return {};
  if (*number > 0 && !first_number(text::look_for_table)) {
    sql::throw_without_table(table_, table_.in(text::drop_companions));
  }
  return static_cast<int>(*number);
}

}  // namespace rowlock::on_sqlite
