// Locking and reading rows in the application's own transaction.
#include <chrono>
#include <cstdint>
#include <exception>
#include <pqxx/pqxx>
#include <string>
#include <utility>
#include <vector>

#include "postgres/caller_transaction.hpp"
#include "postgres/key_list.hpp"
#include "postgres/postgres_errors.hpp"
#include "postgres/seen_row.hpp"
#include "rowlock/postgres.hpp"

namespace rowlock {

namespace {

using postgres::bound_values;
using postgres::caller_transaction;
using postgres::ids_of;
using postgres::types_of;

bound_values arrays_of(const postgres::key_list& keys) {
  return bound_values{types_of(keys), ids_of(keys)};
}

lock_key key_in(const pqxx::row& row) {
  return {row["lock_type"].as<std::string>(), row["source_id"].as<std::string>()};
}

refusal refused_by(const pqxx::row& row, refusal_reason reason) {
  refusal refused{.reason = reason, .key = key_in(row)};
  refused.holder = row["holder"].as<std::string>("");
  if (!row["remaining_us"].is_null()) {
    refused.remaining = std::chrono::microseconds{row["remaining_us"].as<std::int64_t>()};
  }
  if (!row["version"].is_null()) refused.current = version{row["version"].as<std::int64_t>()};
  return refused;
}

refusal stale(const lock_key& key) { return {.reason = refusal_reason::stale, .key = key}; }

enum class missing_rows { report, create };

detail::postgres_attempt try_to_lock(pqxx::transaction_base& transaction, const lock_keys& keys,
                                     std::chrono::milliseconds slice, const table_name& table,
                                     missing_rows missing) {
  const auto wanted = postgres::list_of(keys.in_order());
  const auto answered = caller_transaction{transaction}.execute(
      postgres::statements_for(table).lock_rows,
      bound_values{types_of(wanted), ids_of(wanted), std::int64_t{slice.count()},
                   missing == missing_rows::create},
      &table);
  detail::postgres_attempt attempt;
  if (!answered) {
    attempt.refused = stale(keys.in_order().front());
    return attempt;
  }
  row_lock locked;
  for (const auto& row : *answered) {
    const auto state = row["state"].as<std::string>();
    if (state == "locked") {
      locked.rows.push_back({key_in(row), {row["version"].as<std::int64_t>()}});
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

}  // namespace

outcome<row_lock> lock_rows(pqxx::transaction_base& transaction, const lock_keys& keys,
                            const retry_policy& wait, const table_name& table) {
  row_lock locked;
  auto refused = detail::wait_for_rows(wait, [&](std::chrono::milliseconds slice) {
    auto attempt = try_to_lock(transaction, keys, slice, table, missing_rows::create);
    if (attempt.locked) locked = *std::move(attempt.locked);
    return attempt.refused;
  });
  if (refused) return *std::move(refused);
  return locked;
}

outcome<version> read_version(pqxx::transaction_base& transaction, const lock_key& key,
                              const table_name& table) {
  check(key);
  caller_transaction used{transaction};
  const auto& statements = postgres::statements_for(table);
  const bound_values values = arrays_of({&key});

  const auto seen = used.execute(statements.look, values, &table);
  if (!seen) return stale(key);
  if (!seen->empty()) {
    const auto state = postgres::seen_in(seen->front(), key).state;
    if (!state.owned) return state.version;
    if (state.is_live()) {
      return refusal{.reason = refusal_reason::held,
                     .key = key,
                     .holder = state.holder,
                     .remaining = state.remaining,
                     .current = state.version};
    }
  }
  const auto prepared = used.execute(statements.prepare, values, &table);
  if (!prepared) return stale(key);
  if (prepared->empty()) return refusal{.reason = refusal_reason::busy, .key = key};
  return version{prepared->front()["version"].as<std::int64_t>()};
}

namespace detail {

postgres_attempt lock_existing_rows(pqxx::transaction_base& transaction, const lock_keys& keys,
                                    std::chrono::milliseconds slice, const table_name& table) {
  return try_to_lock(transaction, keys, slice, table, missing_rows::report);
}

void create_rows(pqxx::transaction_base& transaction, const lock_keys& keys,
                 const table_name& table) {
  caller_transaction used{transaction};
  const auto& statements = postgres::statements_for(table);
  const auto run = [&](const std::string& sql) { used.execute(sql, bound_values{}, &table); };
  // At REPEATABLE READ a row that somebody inserts meanwhile is a conflict. It is there, then.
  run(statements.savepoint);
  const bool is_done =
      used.execute(statements.prepare, arrays_of(postgres::list_of(keys.in_order())), &table)
          .has_value();
  if (!is_done) run(statements.roll_back_to_savepoint);
  run(statements.release_savepoint);
  try {
    transaction.commit();
  } catch (const std::exception& thrown) {
    // Serializable ones may still lose here. The rows are there, then, or the next try makes them.
    if (!postgres::is_conflict(thrown)) postgres::throw_as_error(postgres::effects::none, &table);
  }
}

void count_failures(pqxx::transaction_base& transaction, const lock_keys& keys,
                    const table_name& table) {
  caller_transaction{transaction}.execute(postgres::statements_for(table).count_failures,
                                          arrays_of(postgres::list_of(keys.in_order())), &table);
}

}  // namespace detail

}  // namespace rowlock
