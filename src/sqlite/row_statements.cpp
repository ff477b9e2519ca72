// The prepared statements on the lock table, on one connection.
#include "sqlite/row_statements.hpp"

#include <sqlite3.h>

#include <chrono>
#include <utility>

#include "sqlite/sql/leases.hpp"
#include "sqlite/sql/transactions.hpp"
#include "store/schema_check.hpp"

namespace rowlock::sqlite {

namespace {

using std::chrono::microseconds;

/// One execution of a prepared statement, reset at the end. A SELECT that is not reset keeps its
/// read transaction open.
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

  /// Runs the statement to its end: it commits there, and a destructor would swallow a failure.
  std::optional<version> only_version() {
    std::optional<version> only;
    while (statement_.has_next_row()) only = version{statement_.integer(0)};
    return only;
  }

 private:
  statement& statement_;
};

/// SQLite counts in milliseconds. Rounds up, so that the database never frees a row sooner than its
/// holder believes.
std::string as_modifier(microseconds from_now) {
  const auto millis = std::chrono::ceil<std::chrono::milliseconds>(from_now).count();
  const std::string fraction = std::to_string(millis % 1000);
  return '+' + std::to_string(millis / 1000) + '.' + std::string(3 - fraction.size(), '0') +
         fraction + " seconds";
}

seen_row row_in(const statement& at) {
  seen_row found{
      .state = {.key = {.type = at.text(0), .source_id = at.text(1)},
                .version = {at.integer(2)},
                .owned = !at.is_null(3)},
      .owner = at.text(3),
      .left = microseconds{at.integer(6)},
  };
  auto& state = found.state;
  if (state.owned) state.acquired_at = at.text(5);
  if (state.owned || found.left > microseconds::zero()) {
    state.holder = at.text(4);
    state.remaining = found.left;
  }
  state.failure_count = at.integer(7);
  state.expiry_count = at.integer(8);
  state.note = at.text(9);
  state.force_reason = at.text(10);
  const microseconds remembered{at.integer(13)};
  if (remembered > microseconds::zero()) {
    state.done = done_mark{.by = {at.integer(11)}, .at = at.text(12), .remaining = remembered};
  }
  return found;
}

}  // namespace

row_statements::row_statements(sqlite3* database, table_name table)
    : database_{database}, table_{std::move(table)} {}

statement& row_statements::prepared(std::string_view plain) {
  auto found = prepared_.find(plain);
  if (found == prepared_.end()) {
    found = prepared_.try_emplace(plain, database_, table_.in(plain)).first;
  }
  return found->second;
}

std::optional<seen_row> row_statements::read(const lock_key& key) {
  auto& select = prepared(sql::read);
  use once{select, key.type, key.source_id};
  if (!once.has_next_row()) return {};
  return row_in(select);
}

std::vector<row_state> row_statements::list() {
  auto& select = prepared(sql::list);
  use once{select};
  std::vector<row_state> rows;
  while (once.has_next_row()) rows.push_back(row_in(select).state);
  return rows;
}

std::optional<version> row_statements::acquire(const acquire_request& request) {
  const auto& [key, owner, holder, ttl, expected, unless_done] = request;
  if (!expected) {
    return use{prepared(sql::acquire), key.type,           key.source_id, owner.text, holder,
               as_modifier(ttl),       unless_done ? 1 : 0}
        .only_version();
  }
  return use{prepared(sql::acquire_at_version),
             key.type,
             key.source_id,
             owner.text,
             holder,
             as_modifier(ttl),
             unless_done ? 1 : 0,
             expected->number}
      .only_version();
}

bool row_statements::renew(const renew_request& request) {
  const auto& [key, owner, granted, ttl] = request;
  return use{prepared(sql::renew), key.type,       key.source_id,
             owner.text,           granted.number, as_modifier(ttl)}
             .changed_rows() == 1;
}

bool row_statements::release(const release_request& request) {
  const auto& [key, owner, granted, failed, stay_closed, done_for] = request;
  const auto as_optional_modifier = [](std::optional<microseconds> from_now) {
    return from_now ? std::optional{as_modifier(*from_now)} : std::nullopt;
  };
  return use{prepared(sql::release),
             key.type,
             key.source_id,
             owner.text,
             granted.number,
             failed ? 1 : 0,
             as_optional_modifier(stay_closed > microseconds::zero() ? std::optional{stay_closed}
                                                                     : std::nullopt),
             as_optional_modifier(done_for)}
             .changed_rows() == 1;
}

bool row_statements::write_note(const note_request& request) {
  const auto& [key, owner, granted, note] = request;
  return use{prepared(sql::write_note), key.type, key.source_id, owner.text, granted.number, note}
             .changed_rows() == 1;
}

void row_statements::prepare(const lock_key& key) {
  use{prepared(sql::prepare), key.type, key.source_id}.changed_rows();
}

bool row_statements::force_release(const force_request& request) {
  const auto& [key, seen, reason] = request;
  return use{prepared(sql::force_release), key.type, key.source_id, seen.number, reason}
             .changed_rows() == 1;
}

std::vector<purgeable_row> row_statements::find_idle(const purge_request& request) {
  const auto after = request.after.value_or(lock_key{});  // no row has an empty key
  const auto limit = static_cast<std::int64_t>(request.at_most) + 1;
  auto& select = prepared(sql::find_idle);
  use once{select, after.type, after.source_id, request.older_than.count(), limit};
  std::vector<purgeable_row> rows;
  while (once.has_next_row()) {
    rows.push_back({.key = {.type = select.text(0), .source_id = select.text(1)},
                    .is_idle = select.integer(2) == 1});
  }
  return rows;
}

bool row_statements::delete_if_idle(const lock_key& key, microseconds older_than) {
  return use{prepared(sql::delete_idle), key.type, key.source_id, older_than.count()}
             .changed_rows() == 1;
}

std::optional<version> row_statements::lock(const lock_key& key) {
  return use{prepared(sql::lock_row), key.type, key.source_id}.only_version();
}

bool row_statements::commit(const lock_key& key, version seen) {
  return use{prepared(sql::advance), key.type, key.source_id, seen.number}.changed_rows() == 1;
}

void row_statements::count_failure(const lock_key& key) {
  use{prepared(sql::count_failure), key.type, key.source_id}.changed_rows();
}

void row_statements::become_writer() { use{prepared(sql::become_writer)}.changed_rows(); }

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
  const auto number = first_number(sql::last_migration);
  if (!number) return {};
  if (*number > 0 && !first_number(sql::find_table)) {
    detail::throw_without_table(table_, table_.in(sql::drop_companions));
  }
  return static_cast<int>(*number);
}

}  // namespace rowlock::sqlite
