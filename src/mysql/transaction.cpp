// The application's transaction on MariaDB or MySQL, as far as we use it.
#include "mysql/transaction.hpp"

#include <exception>
#include <map>
#include <mutex>
#include <utility>

#include "base/limits.hpp"
#include "mysql/connecting.hpp"
#include "mysql/errors.hpp"
#include "rowlock/error.hpp"
#include "rowlock/retry.hpp"

namespace rowlock::through_soci {

void recognise_mysql_conflicts() noexcept { detail::recognise_conflicts(&is_mysql_conflict); }

const sql::mysql_statements& mysql_statements_for(const table_name& table,
                                                  sql::mysql_flavour flavour) {
  using named = std::pair<std::string, sql::mysql_flavour>;
  static std::mutex mutex;
  static std::map<named, sql::mysql_statements> rendered;  // guarded by mutex
  const std::scoped_lock lock{mutex};
  const named name{table.text(), flavour};
  const auto found = rendered.find(name);
  if (found != rendered.end()) return found->second;
  return rendered.try_emplace(name, table, flavour).first->second;
}

mysql_caller::mysql_caller(::soci::session& session, const table_name& table)
    : session_{session},
      table_{table},
      statements_{mysql_statements_for(table, session_.flavour())} {
  refuse_old(session_);
  recognise_mysql_conflicts();
}

void mysql_caller::require_transaction() const {
  if (session_.is_in_transaction()) return;
  throw error{
      errc::misuse,
      "the session has no open transaction: begin one first; or the server has ended it, as "
      "it does after a deadlock, and with innodb_rollback_on_timeout after a lock wait: run it "
      "again from its beginning"};
}

mysql_answer mysql_caller::execute(std::string_view sql,
                                   std::initializer_list<mysql_value> values) {
  try {
    return session_.execute(sql, values);
  } catch (const std::exception& thrown) {
    if (is_mysql_conflict(thrown)) throw;
    throw_as_error(mysql_effects::none, &table_);
  }
}

std::optional<mysql_answer> mysql_caller::unless_contended(
    std::string_view sql, std::initializer_list<mysql_value> values) {
  try {
    return session_.execute(sql, values);
  } catch (const std::exception& thrown) {
    if (is_mysql_conflict(thrown)) throw;
    if (is_contention(thrown)) return std::nullopt;
    throw_as_error(mysql_effects::none, &table_);
  }
}

std::optional<mysql_answer> mysql_caller::at_once(std::string_view sql,
                                                  std::initializer_list<mysql_value> values) {
  auto answered = unless_contended(sql, values);
  if (!answered) require_transaction();
  return answered;
}

std::optional<mysql_answer> mysql_caller::at_once(std::string_view sql,
                                                  const json_rows& at_versions,
                                                  std::initializer_list<mysql_value> values) {
  if (session_.flavour() == sql::mysql_flavour::mysql) {
    const auto had = execute(statements_.have_many_at_version, {at_versions.value()});
    if (had.rows.size() != at_versions.size()) return std::nullopt;
  }
  return at_once(sql, values);
}

std::optional<std::vector<std::optional<seen_row>>> mysql_caller::look(const key_list& keys) {
  const auto answered = unless_contended(statements_.look_in_transaction, {rows_of(keys).value()});
  if (!answered) return std::nullopt;
  return found_in(*answered, keys);
}

version mysql_caller::version_in(const mysql_answer& answered, const lock_key& key) {
  if (answered.insert_id != 0) return {static_cast<std::int64_t>(answered.insert_id)};
  return look({&key}).value().front().value().state.version;
}

std::optional<mysql_sight> mysql_caller::look_around(const key_list& keys) {
  constexpr std::size_t isolation_column = 13;
  const auto answered = at_once(statements_.look_and_settings, {rows_of(keys).value()});
  if (!answered) return std::nullopt;
  mysql_sight seen{.rows = found_in(*answered, keys)};
  const auto& first = answered->rows.at(0);
  const auto isolation = first.at(isolation_column).value_or("");
  seen.is_read_committed = isolation == "READ-COMMITTED" || isolation == "READ-UNCOMMITTED";
  seen.is_in_cluster = first.at(isolation_column + 1).value_or("0") != "0";
  return seen;
}

std::chrono::microseconds skew_of(const mysql_sight& seen, const soci_table& table) {
  if (table.clock_skew) {
    detail::check_clock_skew(*table.clock_skew);
    return *table.clock_skew;
  }
  const bool has_many_clocks = seen.is_in_cluster && !table.one_writer_node;
  return has_many_clocks ? std::chrono::microseconds{skew_of_a_cluster}
                         : std::chrono::microseconds::zero();
}

}  // namespace rowlock::through_soci
