// The application's transaction on MariaDB or MySQL.
#include "mysql/transaction.hpp"

#include <exception>
#include <functional>
#include <map>
#include <utility>

#include "base/limits.hpp"
#include "base/never_destroyed.hpp"
#include "mysql/connecting.hpp"
#include "mysql/errors.hpp"
#include "mysql/sql/leases.hpp"
#include "mysql/sql/rows.hpp"
#include "mysql/sql/transactions.hpp"
#include "rowlock/detail/checked_mutex.hpp"
#include "rowlock/error.hpp"
#include "rowlock/retry.hpp"

namespace rowlock::mysql {

void recognise_conflicts() noexcept { detail::recognise_conflicts(&is_conflict); }

const std::string& caller_transaction::rendered(std::string_view text) const {
  struct known_table {
    known_table(table_name named, sql::flavour server)
        : name{std::move(named)}, texts{sql::texts_of(name, server)} {}

    const table_name name;
    detail::rendered_sql texts;
  };
  static detail::checked_mutex mutex;
  static const std::reference_wrapper known ROWLOCK_GUARDED_BY(mutex) =
      detail::never_destroyed<std::map<std::pair<std::string, sql::flavour>, known_table>>();
  const detail::checked_lock lock{mutex};
  const auto server = session_.flavour();
  return known.get().try_emplace({table_.text(), server}, table_, server).first->second.texts(text);
}

caller_transaction::caller_transaction(::soci::session& session, const table_name& table)
    : session_{session}, table_{table} {
  refuse_unfit(session_);
  recognise_conflicts();
}

void caller_transaction::require_transaction() const {
  if (!session_.is_still_in_transaction()) throw_no_transaction();
}

void caller_transaction::throw_no_transaction() {
  throw error{
      errc::misuse,
      "the session has no open transaction: begin one first. If a statement of your own ended it, "
      "COMMIT or one that commits, as ALTER TABLE does, its work is kept, without the proof of the "
      "lease: remove that statement. If the server ended it, as after a deadlock, and with "
      "innodb_rollback_on_timeout after a lock wait, nothing of it is kept: run it again from its "
      "beginning"};
}

result_set caller_transaction::execute(std::string_view text,
                                       std::initializer_list<bound_value> values) {
  try {
    return session_.execute(rendered(text), values);
  } catch (const std::exception& thrown) {
    if (is_conflict(thrown)) throw;
    throw_as_error(effects::none, &table_);
  }
}

std::optional<result_set> caller_transaction::unless_contended(
    std::string_view text, std::initializer_list<bound_value> values) {
  const auto& statement = rendered(text);
  try {
    return session_.execute(statement, values);
  } catch (const std::exception& thrown) {
    if (is_conflict(thrown)) throw;
    if (is_contention(thrown, statement)) return std::nullopt;
    throw_as_error(effects::none, &table_);
  }
}

std::optional<result_set> caller_transaction::at_once(std::string_view text,
                                                      std::initializer_list<bound_value> values) {
  auto result = unless_contended(text, values);
  if (!result && !session_.is_in_transaction()) throw_no_transaction();
  return result;
}

std::optional<result_set> caller_transaction::write(std::string_view text, const open_row& row,
                                                    std::initializer_list<bound_value> values) {
  if (session_.flavour() == sql::flavour::mysql) {
    const auto had = execute(
        sql::have_row, {bound_value::ascii(row.key.type), bound_value::bytes(row.key.source_id),
                        row.seen.number, row.open_for.count(), row.may_be_owned ? 1 : 0});
    if (had.rows.empty()) return std::nullopt;
  }
  return at_once(text, values);
}

std::optional<result_set> caller_transaction::write_all(std::string_view text,
                                                        const json_rows& at_versions,
                                                        std::initializer_list<bound_value> values) {
  if (session_.flavour() == sql::flavour::mysql) {
    const auto had = execute(sql::have_many_at_version, {at_versions.value()});
    if (had.rows.size() != at_versions.size()) return std::nullopt;
  }
  return at_once(text, values);
}

std::optional<std::vector<std::optional<seen_row>>> caller_transaction::read(const key_list& keys) {
  const auto result = unless_contended(sql::read_in_transaction, {rows_of(keys).value()});
  if (!result) return std::nullopt;
  return found_in(*result, keys);
}

version caller_transaction::version_in(const result_set& result, const lock_key& key) {
  if (result.insert_id != 0) return {static_cast<std::int64_t>(result.insert_id)};
  return read({&key}).value().front().value().state.version;
}

std::optional<transaction_view> caller_transaction::read_with_settings(const key_list& keys) {
  const auto result = at_once(sql::read_with_settings, {rows_of(keys).value()});
  if (!result) return std::nullopt;
  transaction_view seen{.rows = found_in(*result, keys)};
  const auto& first = result->rows.at(0);
  const auto isolation = first.at(first.size() - 2).value_or("");
  seen.is_read_committed = isolation == "READ-COMMITTED" || isolation == "READ-UNCOMMITTED";
  seen.is_in_cluster = is_in_cluster(first.back());
  return seen;
}

bool caller_transaction::is_in_cluster(const std::optional<std::string>& setting) {
  if (session_.flavour() == sql::flavour::mariadb) return setting.value_or("0") != "0";
  try {
    return is_in_cluster_of_mysql(session_);
  } catch (const std::exception&) {
    throw_as_error(effects::none, &table_);
  }
}

void throw_local_locks() {
  throw error{errc::misuse,
              "row locks of a cluster (Galera, or a group of MySQL with several primaries) are "
              "local to a node, so two nodes could grant the same row: "
              "use leases and fences, or, if all who use this table write through one and the "
              "same node, say so by soci_table::one_writer_node"};
}

std::chrono::microseconds skew_of(const transaction_view& seen, const soci_table& table) {
  if (table.clock_skew) {
    detail::check_clock_skew(*table.clock_skew);
    return *table.clock_skew;
  }
  const bool has_many_clocks = seen.is_in_cluster && !table.one_writer_node;
  return has_many_clocks ? std::chrono::microseconds{skew_of_a_cluster}
                         : std::chrono::microseconds::zero();
}

}  // namespace rowlock::mysql
