// The prepared statements on the lock table, on one connection.
#include "sqlite/row_statements.hpp"

#include <sqlite3.h>

#include <span>
#include <utility>

#include "base/database_time.hpp"
#include "sqlite/sql/history.hpp"
#include "sqlite/sql/leases.hpp"
#include "sqlite/sql/spelling.hpp"
#include "sqlite/sql/transactions.hpp"
#include "store/found_columns.hpp"
#include "store/history_pages.hpp"
#include "store/list_values.hpp"
#include "store/names.hpp"
#include "store/schema_check.hpp"

namespace rowlock::sqlite {

using std::chrono::microseconds;

std::string as_modifier(microseconds from_now) {
  const auto millis = std::chrono::ceil<std::chrono::milliseconds>(from_now).count();
  const std::string fraction = std::to_string(millis % 1000);
  return '+' + std::to_string(millis / 1000) + '.' + std::string(3 - fraction.size(), '0') +
         fraction + " seconds";
}

namespace {

/// Cells by the names of their columns, the first of which is at `first`.
struct named_cells {
  [[nodiscard]] bool is_null(std::string_view column) const { return at.is_null(place_of(column)); }
  [[nodiscard]] std::string text(std::string_view column) const {
    return at.text(place_of(column));
  }
  [[nodiscard]] std::int64_t number(std::string_view column) const {
    return at.integer(place_of(column));
  }
  [[nodiscard]] int place_of(std::string_view column) const {
    return first + static_cast<int>(detail::place_of(column, columns));
  }

  const statement& at;
  std::span<const std::string_view> columns;
  int first = 0;
};

seen_row row_in(const statement& at) {
  return detail::row_from(named_cells{at, detail::row_columns, 2},
                          {.type = at.text(0), .source_id = at.text(1)});
}

/// The other way round: `-30.000 seconds`.
std::string ago(microseconds duration) {
  auto modifier = as_modifier(duration);
  modifier.front() = '-';
  return modifier;
}

/// As the columns have it.
std::string to_the_millisecond(std::chrono::sys_time<std::chrono::milliseconds> shown) {
  auto text = detail::text_of(shown);
  text.resize(text.size() - 3);
  return text;
}

}  // namespace

row_statements::row_statements(sqlite3* database, table_name table)
    : database_{database}, table_{std::move(table)} {}

statement& row_statements::prepared(std::string_view plain) {
  auto found = prepared_.find(plain);
  if (found == prepared_.end()) {
    found = prepared_.try_emplace(plain, database_, sql::rendered(table_, plain)).first;
  }
  return found->second;
}

std::optional<seen_row> row_statements::read(const lock_key& key) {
  auto& select = prepared(sql::read);
  execution once{select, key.type, key.source_id};
  if (!once.has_next_row()) return {};
  return row_in(select);
}

std::vector<row_state> row_statements::list(const list_request& request) {
  const auto wanted = detail::values_of(request);
  auto& select = prepared(sql::list_texts.of(request.sort));
  execution once{select,           wanted.after.type,        wanted.after.source_id,
                 wanted.last_type, request.holder,           wanted.owned,
                 wanted.live,      detail::limit_of(request)};
  std::vector<row_state> rows;
  while (once.has_next_row()) rows.push_back(row_in(select).state);
  return rows;
}

database_time row_statements::now() {
  // The statement reads no table.
  return database_time{microseconds{first_number(sql::now).value()}};
}

row_statements::history_parts row_statements::parts_of_history() {
  const auto name = detail::parts_of(table_.text()).table;
  auto& parts = prepared(sql::parts_of_history);
  execution once{parts, name};
  if (!once.has_next_row()) return {};
  return {.has_table = parts.integer(0) == 1, .has_triggers = parts.integer(1) > 0};
}

std::vector<lock_event> row_statements::events(std::string_view text,
                                               const history_request& request) {
  const auto& before = request.before;
  const auto cursor = [&](const auto& field) {
    return before ? std::optional<std::string_view>{field(*before)} : std::nullopt;
  };
  // The file's times are of milliseconds.
  const auto since = to_the_millisecond(
      std::chrono::ceil<std::chrono::milliseconds>(request.since.value_or(database_time{})));
  const auto until = to_the_millisecond(std::chrono::floor<std::chrono::milliseconds>(
      request.until.value_or(detail::last_database_time)));
  auto& select = prepared(text);
  execution once{select,
                 since,
                 until,
                 request.type,
                 request.source_id,
                 request.holder,
                 request.what,
                 cursor([](const auto& last) -> std::string_view { return last.at; }),
                 cursor([](const auto& last) -> std::string_view { return last.key.type; }),
                 cursor([](const auto& last) -> std::string_view { return last.key.source_id; }),
                 before ? std::optional{before->version.number} : std::nullopt,
                 cursor([](const auto& last) -> std::string_view { return last.what; }),
                 static_cast<std::int64_t>(request.limit)};
  std::vector<lock_event> found;
  while (once.has_next_row())
    found.push_back(detail::event_from(named_cells{select, detail::event_columns}));
  return found;
}

history_page row_statements::history(const history_request& request) {
  const auto parts = parts_of_history();
  if (!parts.has_table) return {};
  try {
    auto page = detail::page_of(
        request, [&](auto which) { return events(detail::events_of_page.*which, request); });
    page.is_ended = !parts.has_triggers;
    return page;
  } catch (const failure& thrown) {
    if (!is_about_schema(thrown)) throw;
    detail::throw_other_event_table(table_);
  }
}

std::size_t row_statements::purge_history(const history_purge_request& request) {
  if (!parts_of_history().has_table) return 0;
  return static_cast<std::size_t>(change(sql::purge_history, ago(request.older_than),
                                         static_cast<std::int64_t>(request.limit)));
}

std::optional<version> row_statements::acquire(const acquire_request& request) {
  const auto& [key, owner, holder, ttl, expected, unless_done, correlation_id, never_waits] =
      request;
  const auto correlation =
      correlation_id.empty() ? std::nullopt : std::optional<std::string_view>{correlation_id};
  if (!expected) {
    return version_from(sql::acquire, key.type, key.source_id, owner.text, holder, as_modifier(ttl),
                        unless_done ? 1 : 0, ttl.count(), correlation);
  }
  return version_from(sql::acquire_at_version, key.type, key.source_id, owner.text, holder,
                      as_modifier(ttl), unless_done ? 1 : 0, ttl.count(), correlation,
                      expected->number);
}

bool row_statements::release(const release_request& request) {
  const auto& [key, owner, granted, failed, stay_closed, done_for, durable, never_waits] = request;
  const auto as_optional_modifier = [](std::optional<microseconds> from_now) {
    return from_now ? std::optional{as_modifier(*from_now)} : std::nullopt;
  };
  const auto closed =
      stay_closed > microseconds::zero() ? std::optional{stay_closed} : std::nullopt;
  return change(sql::release, key.type, key.source_id, owner.text, granted.number, failed ? 1 : 0,
                as_optional_modifier(closed), as_optional_modifier(done_for)) == 1;
}

void row_statements::prepare(const lock_key& key) { change(sql::prepare, key.type, key.source_id); }

std::vector<purgeable_row> row_statements::find_idle(const purge_request& request) {
  const auto after = request.after.value_or(lock_key{});  // no row has an empty key
  const auto limit = static_cast<std::int64_t>(request.limit) + 1;
  auto& select = prepared(sql::find_idle);
  execution once{select, after.type, after.source_id, request.older_than.count(), limit};
  std::vector<purgeable_row> rows;
  while (once.has_next_row()) {
    rows.push_back({.key = {.type = select.text(0), .source_id = select.text(1)},
                    .is_idle = select.integer(2) == 1});
  }
  return rows;
}

std::optional<version> row_statements::lock(const lock_key& key) {
  return version_from(sql::lock_row, key.type, key.source_id);
}

std::optional<std::int64_t> row_statements::first_number(std::string_view plain) {
  try {
    execution once{prepared(plain)};
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
