// Row locks, versions and migrations in the caller's transaction.
#include "postgres/transaction.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include "postgres/row.hpp"
#include "postgres/sql/statements.hpp"
#include "postgres/table_check.hpp"
#include "postgres/values.hpp"
#include "rowlock/error.hpp"
#include "rowlock/row_transaction.hpp"
#include "store/names.hpp"
#include "store/schema_check.hpp"

namespace rowlock::postgres {

namespace {

bound_values arrays_of(const key_list& keys) { return bound_values{types_of(keys), ids_of(keys)}; }

lock_key key_in(const answer::row& row) { return {row.text("lock_type"), row.text("source_id")}; }

refusal refused_by(const answer::row& row, refusal_reason reason) {
  refusal refused{.reason = reason, .key = key_in(row)};
  refused.holder = row.text("holder");
  if (!row.is_null("remaining_us")) {
    refused.remaining = std::chrono::microseconds{row.number("remaining_us")};
  }
  if (!row.is_null("version")) refused.current = version{row.number("version")};
  return refused;
}

refusal stale(const lock_key& key) { return {.reason = refusal_reason::stale, .key = key}; }

commit_result result_of(const std::optional<answer>& answered) {
  const bool is_moved = answered && answered->affected_rows() == 1;
  return is_moved ? commit_result::committed : commit_result::stale;
}

std::string text_of(const row_id& id) {
  if (const auto* number = std::get_if<std::int64_t>(&id)) return std::to_string(*number);
  return std::get<std::string>(id);
}

}  // namespace

lock_attempt try_to_lock(transaction_line& used, const lock_keys& keys,
                         std::chrono::milliseconds slice, const postgres_table& table,
                         missing_rows missing) {
  const auto wanted = list_of(keys.in_order());
  require_same_keys(used, wanted);
  const auto answered = caller_transaction{used}.execute(
      statements_for(table).lock_rows,
      bound_values{types_of(wanted), ids_of(wanted), std::int64_t{slice.count()},
                   missing == missing_rows::create},
      &table.table);
  lock_attempt attempt;
  if (!answered) {
    attempt.refused = stale(keys.in_order().front());
    return attempt;
  }
  row_lock locked;
  for (const auto row : *answered) {
    const auto state = row.text("state");
    if (state == "locked") {
      locked.rows.push_back({key_in(row), {row.number("version")}});
    } else if (state != "missing") {
      attempt.refused = refused_by(row, state == "leased"  ? refusal_reason::held
                                        : state == "stale" ? refusal_reason::stale
                                                           : refusal_reason::busy);
      return attempt;
    }
  }
  if (!locked.rows.empty()) attempt.locked = std::move(locked);
  return attempt;
}

outcome<row_lock> lock_rows(transaction_line& used, const lock_keys& keys, const retry_policy& wait,
                            const postgres_table& table) {
  row_lock locked;
  auto refused = detail::wait_for_rows(wait, [&](std::chrono::milliseconds slice) {
    auto attempt = try_to_lock(used, keys, slice, table, missing_rows::create);
    if (attempt.locked) locked = *std::move(attempt.locked);
    return attempt.refused;
  });
  if (refused) return *std::move(refused);
  return locked;
}

outcome<version> read_version(transaction_line& used, const lock_key& key,
                              const postgres_table& table) {
  require_same_keys(used, {&key});
  caller_transaction asking{used};
  const auto& statements = statements_for(table);
  const bound_values values = arrays_of({&key});

  const auto seen = asking.execute(statements.look, values, &table.table);
  if (!seen) return stale(key);
  if (!seen->empty()) {
    const auto row = seen_in(seen->front(), key);
    if (!row.can_be_taken(statements.clock_skew)) {
      return refusal{.reason = refusal_reason::held,
                     .key = key,
                     .holder = row.state.holder,
                     .remaining = row.left + statements.clock_skew,
                     .current = row.state.version};
    }
    if (!row.state.owned) return row.state.version;
  }
  const auto prepared = asking.execute(statements.prepare, values, &table.table);
  if (!prepared) return stale(key);
  if (prepared->empty()) return refusal{.reason = refusal_reason::busy, .key = key};
  return version{prepared->front().number("version")};
}

commit_result try_commit(transaction_line& used, const lock_key& key, version seen,
                         const postgres_table& table) {
  require_same_keys(used, {&key});
  return result_of(caller_transaction{used}.execute(
      statements_for(table).advance, bound_values{key.type, key.source_id, seen.number},
      &table.table));
}

commit_result try_commit(transaction_line& used, const versioned_table& table, const row_id& id,
                         std::int64_t seen) {
  return result_of(caller_transaction{used}.execute(
      sql::versioned_update(table), bound_values{text_of(id), seen}, nullptr, table.table));
}

void create_rows(transaction_line& used, const lock_keys& keys, const postgres_table& table) {
  caller_transaction creating{used};
  const auto& statements = statements_for(table);
  const auto run = [&](const std::string& sql) {
    creating.execute(sql, bound_values{}, &table.table);
  };
  run(statements.savepoint);
  const bool is_done =
      creating.execute(statements.prepare, arrays_of(list_of(keys.in_order())), &table.table)
          .has_value();
  if (!is_done) run(statements.roll_back_to_savepoint);
  run(statements.release_savepoint);
}

void count_failures(transaction_line& used, const lock_keys& keys, const postgres_table& table) {
  caller_transaction{used}.execute(statements_for(table).count_failures,
                                   arrays_of(list_of(keys.in_order())), &table.table);
}

std::optional<answer> caller_transaction::execute(const std::string& sql,
                                                  const bound_values& values,
                                                  const table_name* lock_table,
                                                  std::string_view other_table) {
  try {
    return execute_or_conflict(sql, values, lock_table, other_table);
  } catch (const std::exception& thrown) {
    if (line_.fault_in(thrown).is_conflict()) return std::nullopt;
    throw;
  }
}

answer caller_transaction::execute_or_conflict(const std::string& sql, const bound_values& values,
                                               const table_name* lock_table,
                                               std::string_view other_table) {
  try {
    return line_.execute(sql, values);
  } catch (const std::exception& thrown) {
    const auto found = line_.fault_in(thrown);
    if (found.is_conflict()) throw;
    throw_as_error(found, effects::none, lock_table, other_table);
  }
}

void require_same_keys(const transaction_line& used, const key_list& keys) {
  // A type is ASCII always.
  const bool are_ascii = std::all_of(keys.begin(), keys.end(), [](const lock_key* key) {
    return std::all_of(key->source_id.begin(), key->source_id.end(),
                       [](char byte) { return static_cast<unsigned char>(byte) < 0x80; });
  });
  if (are_ascii) return;
  const auto encoding = used.encoding();
  if (encoding == "UTF8") return;
  throw error{
      errc::misuse,
      "a key that is not ASCII would be another one to the server, because the connection's "
      "client_encoding is " +
          encoding + ": SET client_encoding TO 'UTF8', or connect with client_encoding=UTF8"};
}

const sql::postgres_statements& statements_for(const postgres_table& table,
                                               bool asynchronous_release) {
  using named = std::tuple<std::string, std::chrono::milliseconds, bool>;
  static std::mutex mutex;
  static std::map<named, sql::postgres_statements> rendered;  // guarded by mutex
  const std::scoped_lock lock{mutex};
  const named name{table.table.text(), table.clock_skew, asynchronous_release};
  const auto found = rendered.find(name);
  if (found != rendered.end()) return found->second;
  return rendered
      .emplace(std::piecewise_construct, std::forward_as_tuple(name),
               std::forward_as_tuple(table, asynchronous_release))
      .first->second;
}

namespace {

void apply(transaction_line& used, const migration& step, const table_name& table) {
  try {
    used.run(step.up);
  } catch (const std::exception& thrown) {
    const auto state = used.fault_in(thrown).sqlstate;
    if (state == "42501") {
      std::throw_with_nested(error{
          errc::rejected, "the role of this connection may not create table " + table.text() +
                              ": GRANT CREATE ON SCHEMA ... TO it, or migrate as another role"});
    }
    if (state == "42P07" || state == "42710" || state == "42723") {
      std::throw_with_nested(
          error{errc::rejected, "something that rowlock did not make is named " + table.text() +
                                    " or " + table.text() +
                                    "_...: rename it, or give rowlock's table another name"});
    }
    throw;
  }
}

}  // namespace

std::vector<migration> migrate(transaction_line& used, const table_name& table) {
  const sql::postgres_statements statements{table};
  used.execute(statements.read_committed);
  used.execute(statements.take_migration_turn);
  const auto found = find_table(used, statements, table);
  auto missing = sql::missing_migrations(found.number, postgres_migrations(table), table);
  if (missing.empty()) require_fit(found, table);
  for (const auto& step : missing) apply(used, step, table);
  return missing;
}

}  // namespace rowlock::postgres
