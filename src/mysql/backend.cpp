// The SOCI backend of MariaDB and MySQL.
#include "soci/backend.hpp"

#include <soci/mysql/soci-mysql.h>
#include <soci/soci.h>

#include <exception>
#include <limits>

#include "base/never_destroyed.hpp"
#include "mysql/connecting.hpp"
#include "mysql/errors.hpp"
#include "mysql/executor.hpp"
#include "mysql/session.hpp"
#include "mysql/sql/history.hpp"
#include "mysql/sql/leases.hpp"
#include "mysql/sql/rows.hpp"
#include "mysql/sql/session.hpp"
#include "mysql/sql/transactions.hpp"
#include "mysql/table_check.hpp"
#include "mysql/transaction.hpp"
#include "rowlock/error.hpp"
#include "rowlock/row_transaction.hpp"
#include "store/names.hpp"
#include "store/schema_check.hpp"

namespace rowlock::mysql {

namespace {

using std::chrono::milliseconds;

/// Waits for other migrations, on a session of rowlock. The lock only makes an order: concurrent
/// migrations do no harm, and a cluster has no such locks.
void take_migration_turn(connection& session) {
  try {
    session.execute(sql::take_migration_turn);
  } catch (const std::exception& thrown) {
    if (is_lost_connection(error_number_of(thrown))) throw;
  }
}

/// A privilege on a table can be granted before the table exists.
[[noreturn]] void throw_may_not_migrate(const table_name& table) {
  const auto& name = table.text();
  std::throw_with_nested(
      error{errc::rejected, "the user of this connection may not migrate table " + name +
                                ": run `GRANT ALL ON " + name + " TO ...; GRANT ALL ON " + name +
                                "_schema TO ...; GRANT ALL ON " + name +
                                "_event TO ...` for it, or migrate as another"});
}

constexpr unsigned triggers_need_trust = 1419;

[[noreturn]] void throw_may_not_make_triggers() {
  std::throw_with_nested(error{
      errc::rejected,
      "this server writes a binary log and lets only administrators create triggers, which the "
      "history needs: migrate as one, or SET GLOBAL log_bin_trust_function_creators = ON"});
}

/// Whether the history is to be begun or ended, and is not so already.
bool changes_history(connection& session, detail::rendered_sql& texts, const table_name& table,
                     history_option wanted) {
  if (wanted == history_option::unchanged) return false;
  const auto name = detail::parts_of(table.text());
  const auto database = name.schema ? bound_value::utf8(*name.schema) : bound_value::null();
  const auto found =
      session.execute(texts(sql::parts_of_history), {database, bound_value::utf8(name.table)});
  const auto& parts = found.rows.at(0);
  return wanted == history_option::with ? parts.at(0) != "1" || parts.at(1) != "2"
                                        : parts.at(1) != "0";
}

/// Throws `error` (rejected) if what has the name of the history's table does not take its events.
void try_event(connection& session, detail::rendered_sql& texts, const table_name& table) {
  session.execute(sql::begin);
  try {
    session.execute(texts(sql::try_event));
    session.roll_back();
  } catch (const std::exception& thrown) {
    session.roll_back();
    if (!is_refusal(error_number_of(thrown))) throw;
    detail::throw_other_event_table(table);
  }
}

/// Begins or ends the history. None if it is so already.
std::optional<migration> change_history(connection& session, detail::rendered_sql& texts,
                                        const table_name& table, history_option wanted) {
  auto step = mysql_history(table);
  const bool changes = changes_history(session, texts, table, wanted);
  if (wanted == history_option::without) {
    if (changes) session.execute_script(step.down);
  } else if (wanted == history_option::with) {
    if (changes) session.execute_script(step.up);
    try {
      try_event(session, texts, table);
    } catch (...) {
      if (changes) session.execute_script(step.down);
      throw;
    }
  }
  return changes ? std::optional{std::move(step)} : std::nullopt;
}

class mysql_backend_type final : public through_soci::soci_backend {
 public:
  mysql_backend_type()
      : soci_backend{{.name = "mysql",
                      .migrations = mysql_migrations,
                      .history = mysql_history,
                      // A statement for several keys is three round trips, and commits that meet
                      // share a flush.
                      .limits = {.statements_at_once = std::numeric_limits<unsigned>::max(),
                                 .batching_pays_from = 17}}} {}

  [[nodiscard]] const ::soci::backend_factory& factory() const override {
    return *::soci::factory_mysql();
  }

  [[nodiscard]] std::string checked(std::string parameters,
                                    const soci_options& options) const override {
    return mysql::checked_parameters(std::move(parameters), options);
  }

  [[noreturn]] void throw_not_opened(const std::string& parameters) const override {
    mysql::throw_not_opened(parameters);
  }

  [[nodiscard]] std::unique_ptr<detail::session> make_session(
      std::shared_ptr<::soci::session> session, const soci_options& options) const override {
    return mysql::make_session(std::move(session), options);
  }

  std::vector<migration> migrate(::soci::session& session, const table_name& table,
                                 history_option history) const override {
    connection migrating{session};
    auto texts = sql::texts_of(table, migrating.flavour());
    try {
      make_fit_for_a_migration(migrating);
      take_migration_turn(migrating);
      const auto number = schema_version(migrating, texts, table);
      auto missing = detail::missing_migrations(number, mysql_migrations(table), table);
      check_table_if_there(migrating, texts, number, table);
      for (const auto& step : missing) migrating.execute_script(step.up);
      if (auto changed = change_history(migrating, texts, table, history)) {
        missing.push_back(*std::move(changed));
      }
      return missing;
    } catch (const std::exception& thrown) {
      if (is_missing_privilege(error_number_of(thrown))) throw_may_not_migrate(table);
      if (error_number_of(thrown) == triggers_need_trust) throw_may_not_make_triggers();
      throw_as_error(effects::none, &table);
    }
  }

  [[nodiscard]] bool is_in_transaction(::soci::session& session) const override {
    return connection{session}.is_still_in_transaction();
  }

  through_soci::begun_transaction begin(::soci::session& session,
                                        milliseconds /*slice*/) const override {
    return mysql::begin(session);
  }

  through_soci::begun_transaction begin_locked(::soci::session& session, const lock_keys& keys,
                                               milliseconds /*slice*/,
                                               const soci_table& table) const override {
    return mysql::begin_locked(session, keys, table);
  }

  through_soci::lock_attempt try_to_lock(::soci::session& session, const lock_keys& keys,
                                         milliseconds /*slice*/, const soci_table& table,
                                         through_soci::isolation known) const override {
    return mysql::try_to_lock(session, keys, table, known);
  }

  outcome<version> read_version(::soci::session& session, const lock_key& key,
                                const soci_table& table) const override {
    caller_transaction caller{session, table.table};
    caller.require_transaction();
    const auto seen = caller.read_with_settings({&key});
    if (!seen) return busy_at(key);
    const auto& row = seen->rows.front();
    if (!row) {
      const auto made =
          caller.at_once(sql::insert_in_transaction,
                         {bound_value::ascii(key.type), bound_value::bytes(key.source_id)});
      if (!made) return busy_at(key);
      return caller.version_in(*made, key);
    }
    const auto skew = skew_of(*seen, table);
    if (!row->can_be_taken(skew)) return held_by(*row);
    if (!row->state.owned) return row->state.version;

    const auto unset =
        caller.write(sql::prepare_row, {key, row->state.version, skew},
                     {bound_value::ascii(key.type), bound_value::bytes(key.source_id),
                      row->state.version.number, skew.count()});
    if (!unset || unset->affected == 0) return busy_at(key);
    return caller.version_in(*unset, key);
  }

  commit_result try_commit(::soci::session& session, const lock_key& key, version seen,
                           const soci_table& table) const override {
    caller_transaction caller{session, table.table};
    caller.require_transaction();
    return stale_if_conflict([&] {
      return caller.write(
          sql::advance, {.key = key, .seen = seen, .may_be_owned = false},
          {bound_value::ascii(key.type), bound_value::bytes(key.source_id), seen.number});
    });
  }

  commit_result try_commit(::soci::session& session, const versioned_table& table, const row_id& id,
                           std::int64_t seen) const override {
    return mysql::try_commit(session, table, id, seen);
  }

  outcome<std::int64_t> read_version(::soci::session& session, const versioned_table& table,
                                     const row_id& id) const override {
    return mysql::read_version(session, table, id);
  }

  outcome<void> lock_entity(::soci::session& session, const entity_table& entity, const row_id& id,
                            const retry_policy& wait, const soci_table& table) const override {
    return mysql::lock_entity(session, entity, id, wait, table);
  }

  detail::fence_proof prove(::soci::session& session, const fenced_leases& leases,
                            const fence_options& options, std::span<const release_request> releases,
                            const soci_table& table) const override {
    return mysql::prove(session, leases, options, releases, table);
  }

  void commit(::soci::session& session) const override {
    constexpr unsigned no_such_savepoint = 1305;
    connection used{session};
    try {
      if (!used.is_in_autocommit()) used.execute(sql::require_beginning);
      used.execute(sql::commit);
    } catch (const std::exception& thrown) {
      if (error_number_of(thrown) == no_such_savepoint) {
        used.roll_back();
        detail::throw_over_before_commit();
      }
      throw_failed_commit();
    }
  }

  void roll_back(::soci::session& session) const noexcept override {
    try {
      connection{session}.roll_back();
    } catch (const std::exception&) {  // the session is closed
    }
  }

  void count_failures(::soci::session& session, const lock_keys& keys,
                      const soci_table& table) const override {
    executor exec{connection{session}, table.table, executor::parameters::written};
    const auto wanted = list_of(keys.in_order());
    const auto seen =
        found_in(exec.execute(sql::read_in_transaction, {rows_of(wanted).value()}), wanted);
    json_rows at_versions;
    json_rows to_count;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (!seen[i]) continue;
      at_versions.add(row_of(*wanted[i]).number(seen[i]->state.version.number));
      to_count.add(row_of(*wanted[i]));
    }
    exec.write_unlocked(sql::have_many_at_version, at_versions, sql::count_failures, to_count, 0);
  }

 private:
  static commit_result stale_if_conflict(const auto& move) {
    try {
      const std::optional<result_set> moved = move();
      return moved && moved->affected == 1 ? commit_result::committed : commit_result::stale;
    } catch (const std::exception& thrown) {
      if (!is_conflict(thrown)) throw;
      return commit_result::stale;
    }
  }
};

}  // namespace

}  // namespace rowlock::mysql

const rowlock::through_soci::soci_backend& rowlock::through_soci::mysql_backend() {
  static const auto& backend = rowlock::detail::never_destroyed<const mysql::mysql_backend_type>();
  return backend;
}
