// Locks and versions of the application's own rows on MariaDB and MySQL.
#include <charconv>
#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "base/never_destroyed.hpp"
#include "mysql/errors.hpp"
#include "mysql/sql/transactions.hpp"
#include "mysql/transaction.hpp"
#include "rowlock/error.hpp"
#include "rowlock/row_transaction.hpp"
#include "store/entity_sql.hpp"
#include "store/names.hpp"

namespace rowlock::mysql {

namespace {

using detail::refused_entity;
using std::chrono::milliseconds;

const table_name& no_lock_table() {
  static const auto& none = detail::never_destroyed<const table_name>();
  return none;
}

/// One row, and its transaction.
template <class Table>
class entity_row {
 public:
  /// Throws `error` (misuse) for names or an id that cannot be, and without a transaction.
  entity_row(::soci::session& session, const Table& table, const row_id& id)
      : caller_{session, no_lock_table()},
        table_{table},
        id_{id},
        words_{detail::words_for(table, id, sql::entity_spelling())} {
    caller_.require_transaction();
    for (const auto& part : id.parts()) values_.push_back(bound_value::utf8(detail::text_of(part)));
    const auto name = detail::parts_of(table.table);
    words_["engine"] = sql::engine;
    words_["schema"] = name.schema ? '\'' + *name.schema + '\'' : "database()";
    words_["name"] = '\'' + name.table + '\'';
  }

  /// Throws the driver's exceptions.
  result_set execute(std::string_view text, std::optional<std::int64_t> seen = {}) {
    auto values = values_;
    if (seen) values.emplace_back(*seen);
    return caller_.session().execute(sql::on_entity(text, words_, flavour()), values);
  }

  [[nodiscard]] refusal refused(refusal_reason reason) const {
    return refused_entity(reason, table_.table, id_);
  }
  [[nodiscard]] sql::flavour flavour() { return caller_.session().flavour(); }
  void require_transaction() const { caller_.require_transaction(); }
  bool is_in_cluster(const std::optional<std::string>& setting) {
    return caller_.is_in_cluster(setting);
  }
  /// Of a result whose first column is the engine.
  void require_transactions(const result_set& found) const {
    const auto& engine = found.rows.at(0).at(0);
    if (!engine || *engine == "InnoDB") return;
    throw error{errc::rejected,
                table_.table + " is no table of the engine InnoDB (" + *engine +
                    "), so its rows might be neither locked nor rolled back: name the table of a "
                    "view, or ALTER TABLE ... ENGINE = InnoDB"};
  }
  void set(std::string_view word, std::string value) { words_[word] = std::move(value); }

 private:
  caller_transaction caller_;
  const Table& table_;
  const row_id& id_;
  detail::sql_words words_;
  std::vector<bound_value> values_;
};

/// How the statement waits. Only MariaDB has a limit, in whole seconds.
std::string waiting_for(milliseconds slice, sql::flavour server) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(slice);
  if (server == sql::flavour::mysql || seconds.count() < 1) return "NOWAIT";
  return "WAIT " + std::to_string(seconds.count());
}

std::optional<refusal> try_to_lock(entity_row<entity_table>& row, milliseconds slice,
                                   const soci_table& table) {
  row.set("wait", waiting_for(slice, row.flavour()));
  std::optional<result_set> found;
  try {
    found = row.execute(sql::lock_entity);
  } catch (const std::exception& thrown) {
    if (is_deadlock(thrown)) return row.refused(refusal_reason::deadlock);
    if (is_conflict(thrown)) return row.refused(refusal_reason::stale);
    if (!is_contention(thrown, sql::lock_entity)) throw_as_error(effects::none, nullptr);
    row.require_transaction();
    return row.refused(refusal_reason::busy);
  }
  if (found->rows.empty()) return row.refused(refusal_reason::missing);
  row.require_transactions(*found);
  if (!table.one_writer_node && row.is_in_cluster(found->rows.front().at(1))) throw_local_locks();
  return {};
}

/// The second cell; none if it is null or no `std::int64_t`.
std::optional<std::int64_t> version_in(const result_set& found) {
  const std::string text = found.rows.at(0).at(1).value_or("");
  std::int64_t number = 0;
  const auto* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc{} || read.ptr != end) return {};
  return number;
}

}  // namespace

outcome<void> lock_entity(::soci::session& session, const entity_table& entity, const row_id& id,
                          const retry_policy& wait, const soci_table& table) {
  entity_row row{session, entity, id};
  auto refused = detail::wait_for_rows(
      wait, [&](milliseconds slice) { return try_to_lock(row, slice, table); });
  if (refused) return *std::move(refused);
  return outcome<void>{true};
}

outcome<std::int64_t> read_version(::soci::session& session, const versioned_table& table,
                                   const row_id& id) {
  entity_row row{session, table, id};
  const bool is_time = table.version_is == version_kind::timestamp;
  try {
    const auto found = row.execute(is_time ? sql::read_time : sql::read_number);
    if (found.rows.empty()) return row.refused(refusal_reason::missing);
    row.require_transactions(found);
    const auto seen = version_in(found);
    if (!seen) detail::throw_no_version(table);
    return *seen;
  } catch (const std::exception&) {
    throw_as_error(effects::none, nullptr);
  }
}

commit_result try_commit(::soci::session& session, const versioned_table& table, const row_id& id,
                         std::int64_t seen) {
  entity_row row{session, table, id};
  const bool is_time = table.version_is == version_kind::timestamp;
  detail::check_next(table, seen);
  try {
    const auto moved = row.execute(is_time ? sql::advance_time : sql::advance_number, seen);
    if (moved.affected != 1) return commit_result::stale;
    // The column may have rounded the version, or clipped it, and a trigger may have set it.
    const auto now = row.execute(is_time ? sql::read_time : sql::read_number);
    row.require_transactions(now);
    detail::require_moved(table, seen, version_in(now));
    return commit_result::committed;
  } catch (const std::exception& thrown) {
    if (is_conflict(thrown)) return commit_result::stale;
    throw_as_error(effects::none, nullptr);
  }
}

}  // namespace rowlock::mysql
