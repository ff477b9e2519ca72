// Locks and versions of the application's own rows.
#include <algorithm>
#include <chrono>
#include <exception>
#include <string>
#include <string_view>
#include <type_traits>

#include "postgres/sql/transactions.hpp"
#include "postgres/transaction.hpp"
#include "rowlock/clock.hpp"
#include "rowlock/error.hpp"
#include "rowlock/row_transaction.hpp"
#include "store/entity_sql.hpp"

namespace rowlock::postgres {

namespace {

using detail::refused_entity;
using std::chrono::milliseconds;

/// One row, and its transaction.
template <class Table>
class entity {
 public:
  entity(transaction_connection& used, const Table& table, const row_id& id)
      : used_{used}, table_{table}, id_{id}, words_{detail::words_for(table, id, {})} {
    words_.emplace("microseconds", sql::microseconds);
    if constexpr (std::is_same_v<Table, entity_table>) {
      words_.emplace("strength",
                     table.lock == entity_lock::for_update ? "NO KEY UPDATE" : "UPDATE");
    }
    for (const auto& part : id.parts()) require_same_text(used, detail::text_of(part));
  }

  /// None if a concurrent transaction won: see `caller_transaction`.
  std::optional<result_set> execute(std::string_view text) { return execute(text, id_values()); }
  std::optional<result_set> execute(std::string_view text, std::int64_t seen) {
    auto values = id_values();
    values->append(seen);
    return execute(text, std::move(values));
  }

  /// Locks the table as a lock of its row does; waits at most for `slice`, or for 100 ms if that is
  /// shorter. The server opens the table first, and VACUUM may truncate a catalog just then, which
  /// takes it a few milliseconds: that is no other transaction's lock of the row.
  std::optional<refusal> lock_table(milliseconds slice) {
    auto words = words_;
    words.emplace("ms", std::to_string(std::max(slice, milliseconds{100}).count()));
    const auto found = run_script(detail::with_words(sql::lock_entities, words));
    if (!found.front().flag("is_table")) {
      throw error{errc::rejected, table_.table +
                                      " is a view or a foreign table, whose rows might "
                                      "not be locked: name the table itself"};
    }
    const auto state = found.front().text("refused");
    if (state.empty()) return {};
    return refused(state == "55P03" ? refusal_reason::busy : refusal_reason::deadlock);
  }

  /// Waits in the server's queue at most for about `slice`, which is above zero.
  std::optional<refusal> await(milliseconds slice) {
    run(sql::savepoint);
    const auto limits =
        used_.execute(std::string{sql::limit_waiting}, bound_values{std::int64_t{slice.count()}});
    const milliseconds limit{limits.front().number("ms")};
    const auto began = boot_clock::now();
    bool is_found = false;
    try {
      is_found =
          !used_.execute(detail::with_words(sql::await_entity, words_), *id_values()).empty();
    } catch (const std::exception& thrown) {
      const auto found = used_.fault_in(thrown);
      const bool is_over = found.sqlstate == "55P03" ||
                           (found.sqlstate == "57014" && boot_clock::now() - began >= limit);
      if (!is_over && !found.is_conflict()) {
        throw_as_error(found, effects::none, nullptr, table_.table);
      }
      run(sql::roll_back_to_savepoint);  // restores the limits
      run(sql::release_savepoint);
      if (is_over) return refused(refusal_reason::busy);
      return refused(found.is_deadlock() ? refusal_reason::deadlock : refusal_reason::stale);
    }
    used_.execute(std::string{sql::restore_limits},
                  bound_values{limits.front().text("lock_timeout"),
                               limits.front().text("statement_timeout")});
    run(sql::release_savepoint);
    if (is_found) return {};
    return refused(refusal_reason::missing);
  }

  [[nodiscard]] refusal refused(refusal_reason reason) const {
    return refused_entity(reason, table_.table, id_);
  }

 private:
  [[nodiscard]] std::unique_ptr<bound_values> id_values() const {
    auto values = std::make_unique<bound_values>();
    for (const auto& part : id_.parts()) values->append(detail::text_of(part));
    return values;
  }
  std::optional<result_set> execute(std::string_view text, std::unique_ptr<bound_values> values) {
    return caller_transaction{used_}.execute(detail::with_words(text, words_), *values, nullptr,
                                             table_.table);
  }
  result_set run_script(const std::string& script) {
    try {
      return used_.run(script);
    } catch (const std::exception& thrown) {
      throw_as_error(used_.fault_in(thrown), effects::none, nullptr, table_.table);
    }
  }
  void run(std::string_view text) { used_.execute(std::string{text}); }

  transaction_connection& used_;
  const Table& table_;
  const row_id& id_;
  detail::sql_words words_;
};

}  // namespace

outcome<void> lock_entity(transaction_connection& used, const entity_table& table, const row_id& id,
                          const retry_policy& wait) {
  entity row{used, table, id};
  bool has_table = false;
  auto refused = detail::wait_for_rows(wait, [&](milliseconds slice) -> std::optional<refusal> {
    if (!has_table) {
      const auto began = boot_clock::now();
      if (auto busy = row.lock_table(slice)) return busy;
      has_table = true;
      slice -= std::chrono::floor<milliseconds>(boot_clock::now() - began);
    }
    const auto tried = row.execute(sql::try_to_lock_entity);
    if (!tried) return row.refused(refusal_reason::stale);
    if (tried->front().flag("locked")) return {};
    if (!tried->front().flag("there")) return row.refused(refusal_reason::missing);
    if (slice <= milliseconds::zero()) return row.refused(refusal_reason::busy);
    return row.await(slice);
  });
  if (refused) return *std::move(refused);
  return outcome<void>{true};
}

outcome<std::int64_t> read_version(transaction_connection& used, const versioned_table& table,
                                   const row_id& id) {
  entity row{used, table, id};
  const bool is_time = table.version_is == version_kind::timestamp;
  const auto found = row.execute(is_time ? sql::read_time : sql::read_number);
  if (!found) return row.refused(refusal_reason::stale);
  if (found->empty()) return row.refused(refusal_reason::missing);
  if (found->front().is_null("version")) detail::throw_no_version(table);
  return found->front().number("version");
}

commit_result try_commit(transaction_connection& used, const versioned_table& table,
                         const row_id& id, std::int64_t seen) {
  entity row{used, table, id};
  const bool is_time = table.version_is == version_kind::timestamp;
  const auto moved = row.execute(is_time ? sql::advance_time : sql::advance_number, seen);
  if (!moved || moved->size() != 1) return commit_result::stale;
  detail::require_moved(table, seen, moved->front().number("version"));
  return commit_result::committed;
}

}  // namespace rowlock::postgres
