// Row locks, versions and migrations in the caller's transaction.
#include "postgres/transaction.hpp"

#include <algorithm>
#include <exception>
#include <map>
#include <utility>

#include "base/never_destroyed.hpp"
#include "postgres/sql/history.hpp"
#include "postgres/sql/leases.hpp"
#include "postgres/sql/rows.hpp"
#include "postgres/sql/session.hpp"
#include "postgres/sql/spelling.hpp"
#include "postgres/sql/transactions.hpp"
#include "postgres/table_check.hpp"
#include "rowlock/detail/checked_mutex.hpp"
#include "rowlock/error.hpp"
#include "rowlock/row_transaction.hpp"
#include "store/names.hpp"
#include "store/schema_check.hpp"

namespace rowlock::postgres {

namespace {

bound_values arrays_of(const key_list& keys) { return bound_values{types_of(keys), ids_of(keys)}; }

lock_key key_in(const result_set::row& row) {
  return {row.text("lock_type"), row.text("source_id")};
}

refusal refused_by(const result_set::row& row, refusal_reason reason) {
  refusal refused{.reason = reason, .key = key_in(row)};
  refused.holder = row.text("holder");
  if (!row.is_null("remaining_us")) {
    refused.remaining = std::chrono::microseconds{row.number("remaining_us")};
  }
  if (!row.is_null("version")) refused.current = version{row.number("version")};
  return refused;
}

refusal stale(const lock_key& key) { return {.reason = refusal_reason::stale, .key = key}; }

/// The first row that `prepare` has unset or created, if there is one; or why it ended.
struct prepared {
  std::optional<rowlock::version> version = std::nullopt;
  bool is_stale = false;
};

/// Prepares rows behind a savepoint, so that a transaction that has created one of them and stays
/// open is waited for a moment only, and the lock_timeout of this transaction stays as it is.
prepared prepare_briefly(transaction_connection& used, const key_list& keys,
                         const postgres_table& table) {
  caller_transaction caller{used};
  const auto run = [&](std::string_view text, const bound_values& values = bound_values{}) {
    return caller.execute_or_conflict(statement_for(table, text), values, &table.table);
  };
  run(sql::savepoint);
  const auto limit = run(sql::lock_timeout).front().text("lock_timeout");
  prepared found;
  try {
    const auto rows = used.execute(statement_for(table, sql::prepare),
                                   bound_values{types_of(keys), ids_of(keys), sql::short_wait_ms});
    if (!rows.empty()) found.version = version{rows.front().number("version")};
  } catch (const std::exception& thrown) {
    const auto why = used.fault_in(thrown);
    found.is_stale = why.is_conflict();
    if (!found.is_stale && !why.is_lock_timeout()) {
      throw_as_error(why, effects::none, &table.table);
    }
    run(sql::roll_back_to_savepoint);  // restores the limit
    run(sql::release_savepoint);
    if (!found.is_stale) run(sql::use_table);
    return found;
  }
  if (found.version) {
    run(sql::restore_lock_timeout, bound_values{limit});
  } else {
    run(sql::roll_back_to_savepoint);  // a row that was changed since may be locked
  }
  run(sql::release_savepoint);
  return found;
}

/// Whether `prepare` leaves a row of `keys` unfit.
bool is_not_prepared(transaction_connection& used, const key_list& keys,
                     const postgres_table& table) {
  used.execute(statement_for(table, sql::prepare),
               bound_values{types_of(keys), ids_of(keys), sql::shortest_wait_ms});
  const auto seen = used.execute(statement_for(table, sql::read), arrays_of(keys));
  bool is_unfit = seen.size() < keys.size();
  for (const auto each : seen) {
    const auto row = seen_in(each, {});
    is_unfit = is_unfit || (row.state.owned && row.can_be_taken(table.clock_skew));
  }
  return is_unfit;
}

/// The lock of a single key whose row is there, free, and not waited for.
std::optional<row_lock> lock_free_row(transaction_connection& used, const key_list& keys,
                                      const postgres_table& table) {
  if (keys.size() != 1) return std::nullopt;
  const auto& key = *keys.front();
  const auto result = caller_transaction{used}.execute_or_conflict(
      statement_for(table, sql::try_to_lock_row), bound_values{key.type, key.source_id},
      &table.table);
  const auto moved = result.front();
  if (moved.is_null("version")) return std::nullopt;
  row_lock locked;
  locked.rows.push_back({key, {moved.number("version")}});
  return locked;
}

/// As `try_to_lock`, whatever keeps a row busy.
lock_attempt lock_once(transaction_connection& used, const lock_keys& keys,
                       std::chrono::milliseconds slice, const postgres_table& table,
                       missing_rows missing) {
  const auto wanted = list_of(keys.in_order());
  lock_attempt attempt;
  attempt.locked = lock_free_row(used, wanted, table);
  if (attempt.locked) return attempt;
  const auto result = caller_transaction{used}.execute(
      statement_for(table, sql::lock_rows),
      bound_values{types_of(wanted), ids_of(wanted), std::int64_t{slice.count()},
                   missing == missing_rows::create},
      &table.table);
  if (!result) {
    attempt.refused = stale(keys.in_order().front());
    return attempt;
  }
  row_lock locked;
  bool is_missing = false;
  for (const auto row : *result) {
    const auto state = row.text("state");
    if (state == "locked") {
      locked.rows.push_back({key_in(row), {row.number("version")}});
    } else if (state == "missing") {
      is_missing = true;
    } else {
      attempt.refused = refused_by(row, state == "leased"  ? refusal_reason::held
                                        : state == "stale" ? refusal_reason::stale
                                                           : refusal_reason::busy);
      return attempt;
    }
  }
  if (is_missing) return attempt;
  if (locked.rows.size() != wanted.size()) throw_lost_changes(table.table);
  attempt.locked = std::move(locked);
  return attempt;
}

}  // namespace

lock_attempt try_to_lock(transaction_connection& used, const lock_keys& keys,
                         std::chrono::milliseconds slice, const postgres_table& table,
                         missing_rows missing) {
  require_same_keys(used, list_of(keys.in_order()));
  auto attempt = lock_once(used, keys, slice, table, missing);
  const auto is_busy = [](const lock_attempt& tried) {
    return tried.refused && tried.refused->reason == refusal_reason::busy;
  };
  if (!is_busy(attempt)) return attempt;
  const auto key = attempt.refused->key;
  const auto is_refused = [&] {
    return is_busy(lock_once(used, key, std::chrono::milliseconds::zero(), table, missing));
  };
  if (loses_changes(used, {&key}, table, is_refused)) throw_lost_changes(table.table);
  return attempt;
}

outcome<row_lock> lock_rows(transaction_connection& used, const lock_keys& keys,
                            const retry_policy& wait, const postgres_table& table) {
  return detail::lock_patiently(wait, [&](std::chrono::milliseconds slice) {
    return try_to_lock(used, keys, slice, table, missing_rows::create);
  });
}

outcome<version> read_version(transaction_connection& used, const lock_key& key,
                              const postgres_table& table) {
  require_same_keys(used, {&key});
  caller_transaction caller{used};
  const bound_values values = arrays_of({&key});

  const auto seen = caller.execute(statement_for(table, sql::read), values, &table.table);
  if (!seen) return stale(key);
  if (!seen->empty()) {
    const auto row = seen_in(seen->front(), key);
    if (!row.can_be_taken(table.clock_skew)) {
      return refusal{.reason = refusal_reason::held,
                     .key = key,
                     .holder = row.state.holder,
                     .remaining = row.left + table.clock_skew,
                     .current = row.state.version};
    }
    if (!row.state.owned) return row.state.version;
  }
  const auto prepared = prepare_briefly(used, {&key}, table);
  if (prepared.is_stale) return stale(key);
  if (prepared.version) return *prepared.version;
  const auto is_refused = [&] { return is_not_prepared(used, {&key}, table); };
  if (loses_changes(used, {&key}, table, is_refused)) throw_lost_changes(table.table);
  return refusal{.reason = refusal_reason::busy, .key = key};
}

commit_result try_commit(transaction_connection& used, const lock_key& key, version seen,
                         const postgres_table& table) {
  require_same_keys(used, {&key});
  const auto& advance = statement_for(table, sql::advance);
  const bound_values values{key.type, key.source_id, seen.number};
  const auto result = caller_transaction{used}.execute(advance, values, &table.table);
  if (!result) return commit_result::stale;
  if (result->affected_rows() == 1) return commit_result::committed;
  const auto is_refused = [&] {
    if (used.execute(advance, values).affected_rows() == 1) return false;
    const auto rows = used.execute(statement_for(table, sql::read), arrays_of({&key}));
    if (rows.empty()) return false;
    const auto row = seen_in(rows.front(), key);
    return row.state.version == seen && !row.state.owned && row.can_be_taken(table.clock_skew);
  };
  if (loses_changes(used, {&key}, table, is_refused)) throw_lost_changes(table.table);
  return commit_result::stale;
}

void create_rows(transaction_connection& used, const lock_keys& keys, const postgres_table& table) {
  const auto wanted = list_of(keys.in_order());
  const auto created = prepare_briefly(used, wanted, table);
  if (created.version || created.is_stale) return;
  const auto is_refused = [&] { return is_not_prepared(used, wanted, table); };
  if (loses_changes(used, wanted, table, is_refused)) throw_lost_changes(table.table);
}

bool loses_changes(transaction_connection& used, const key_list& keys, const postgres_table& table,
                   const std::function<bool()>& is_refused) {
  caller_transaction caller{used};
  const auto run = [&](std::string_view text) {
    return caller.execute_or_conflict(statement_for(table, text), bound_values{}, &table.table);
  };
  const auto take = [&](const lock_key* key) {
    return used
        .execute(statement_for(table, sql::take_row_and_gate),
                 bound_values{key->type, key->source_id})
        .front()
        .flag("has_gate");
  };
  if (!run(sql::may_lose_changes).front().flag("may_lose_changes")) return false;
  bool is_lost = false;
  run(sql::savepoint);
  try {
    is_lost = std::all_of(keys.begin(), keys.end(), take) && is_refused();
  } catch (const error&) {
    throw;
  } catch (const std::exception& thrown) {
    // Another transaction has a row, or has changed it.
    const auto why = used.fault_in(thrown);
    if (why.is_lost_connection()) throw_as_error(why, effects::none, &table.table);
  }
  run(sql::roll_back_to_savepoint);
  run(sql::release_savepoint);
  return is_lost;
}

void count_failures(transaction_connection& used, const lock_keys& keys,
                    const postgres_table& table) {
  caller_transaction{used}.execute(statement_for(table, sql::count_failures),
                                   arrays_of(list_of(keys.in_order())), &table.table);
}

std::optional<result_set> caller_transaction::execute(const std::string& sql,
                                                      const bound_values& values,
                                                      const table_name* lock_table,
                                                      std::string_view other_table) {
  try {
    return execute_or_conflict(sql, values, lock_table, other_table);
  } catch (const std::exception& thrown) {
    if (connection_.fault_in(thrown).is_conflict()) return std::nullopt;
    throw;
  }
}

result_set caller_transaction::execute_or_conflict(const std::string& sql,
                                                   const bound_values& values,
                                                   const table_name* lock_table,
                                                   std::string_view other_table) {
  try {
    return connection_.execute(sql, values);
  } catch (const std::exception& thrown) {
    const auto found = connection_.fault_in(thrown);
    if (found.is_conflict()) throw;
    throw_as_error(found, effects::none, lock_table, other_table);
  }
}

void require_same_keys(const transaction_connection& used, const key_list& keys) {
  // A type is always ASCII.
  for (const lock_key* key : keys) require_same_text(used, key->source_id);
}

void require_same_text(const transaction_connection& used, std::string_view text) {
  const bool is_ascii = std::all_of(
      text.begin(), text.end(), [](char byte) { return static_cast<unsigned char>(byte) < 0x80; });
  if (is_ascii) return;
  const auto encoding = used.encoding();
  if (encoding == "UTF8") return;
  throw error{errc::misuse,
              "a key or an id that is not ASCII would be another one to the server, because the "
              "connection's client_encoding is " +
                  encoding +
                  ": SET client_encoding TO 'UTF8', or connect with client_encoding=UTF8"};
}

const std::string& statement_for(const postgres_table& table, std::string_view text) {
  struct known_table {
    explicit known_table(postgres_table named) : table{std::move(named)} {}

    const postgres_table table;
    detail::rendered_sql texts{sql::texts_of(table)};
  };
  static detail::checked_mutex mutex;
  static const std::reference_wrapper known ROWLOCK_GUARDED_BY(mutex) = detail::never_destroyed<
      std::map<std::pair<std::string, std::chrono::milliseconds>, known_table>>();
  const detail::checked_lock lock{mutex};
  const std::pair name{table.table.text(), table.clock_skew};
  return known.get().try_emplace(name, table).first->second.texts(text);
}

namespace {

void apply(transaction_connection& used, const migration& step, const table_name& table) {
  try {
    used.run(step.up);
  } catch (const std::exception& thrown) {
    const auto state = used.fault_in(thrown).sqlstate;
    if (state == "42501") {
      std::throw_with_nested(error{
          errc::rejected, "the role of this connection may not create table " + table.text() +
                              " and what belongs to it: if the table exists, migrate as the role "
                              "that owns it, else GRANT CREATE ON SCHEMA ... TO this one"});
    }
    if (state == "42P07" || state == "42710" || state == "42723") {
      std::throw_with_nested(
          error{errc::rejected,
                "something that does not belong to a lock table is named " + table.text() + " or " +
                    table.text() +
                    "_...: rename it, or give rowlock's table another name; if the table was "
                    "dropped by hand, the SQL of `rowlock migrate --print --down --table " +
                    table.text() + " postgresql://` drops what is left, its history too"});
    }
    throw;
  }
}

/// The same statement would be refused again, and not for want of a privilege: the class is about
/// values, definitions or what is not supported.
bool is_refusal(std::string_view sqlstate) {
  const auto kind = sqlstate.substr(0, 2);
  return sqlstate != "42501" && (kind == "0A" || kind == "22" || kind == "23" || kind == "42" ||
                                 kind == "44" || sqlstate == "55000");
}

/// With the schema of the table, as functions look names up in the session that calls them. A name
/// that cannot be written so stays as it is.
table_name with_schema(const table_name& table, const std::string& schema) {
  if (detail::parts_of(table.text()).schema) return table;
  try {
    return table_name{schema + '.' + table.text()};
  } catch (const error&) {
    return table;
  }
}

/// Begins or ends the history. None if it is so already.
std::optional<migration> change_history(transaction_connection& used, detail::rendered_sql& texts,
                                        const table_name& table, history_option wanted) {
  const auto found = used.execute(texts(sql::history_state));
  const auto step = postgres_history(with_schema(table, found.front().text("schema")));
  const bool has_trigger = found.front().flag("has_trigger");
  const bool is_complete = has_trigger && found.front().flag("has_table");
  used.execute(texts(sql::limit_lock_wait));
  if (wanted == history_option::without) {
    if (!has_trigger) return std::nullopt;
    used.run(step.down);
    return step;
  }
  if (!is_complete) apply(used, step, table);
  try {
    used.run(texts(sql::try_event));
  } catch (const std::exception& thrown) {
    if (!is_refusal(used.fault_in(thrown).sqlstate)) throw;
    detail::throw_other_event_table(table);
  }
  return is_complete ? std::nullopt : std::optional{step};
}

}  // namespace

std::vector<migration> migrate(transaction_connection& used, const table_name& table,
                               history_option history) {
  const postgres_table migrated{table};
  auto texts = sql::texts_of(migrated);
  used.execute(texts(sql::read_committed));
  used.execute(texts(sql::take_migration_turn));
  const auto found = find_table(used, texts, table);
  const auto home = used.execute(texts(sql::schema_of_tables));
  const auto named =
      home.front().is_null("schema") ? table : with_schema(table, home.front().text("schema"));
  auto missing = detail::missing_migrations(found.number, postgres_migrations(named), table);
  if (missing.empty()) require_fit(found, table);
  for (const auto& step : missing) apply(used, step, table);
  if (history != history_option::unchanged) {
    if (auto changed = change_history(used, texts, table, history)) {
      missing.push_back(*std::move(changed));
    }
  }
  return missing;
}

}  // namespace rowlock::postgres
