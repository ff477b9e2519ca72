// Locking, reading and committing against rows in the application's transaction on PostgreSQL.
#include "postgres/transaction.hpp"

#include <string>
#include <utility>
#include <variant>

#include "postgres/caller_transaction.hpp"
#include "postgres/key_list.hpp"
#include "postgres/row.hpp"
#include "rowlock/row_transaction.hpp"
#include "store/versioned_update.hpp"

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

}  // namespace rowlock::postgres
