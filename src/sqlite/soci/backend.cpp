// The SQLite backend of SOCI, whose statements run on SQLite's own handle.
#include "soci/backend.hpp"

#include <soci/soci.h>

#include <memory>
#include <string>
#include <utility>

#include "base/never_destroyed.hpp"
#include "rowlock/error.hpp"
#include "sqlite/database_file.hpp"
#include "sqlite/failure.hpp"
#include "sqlite/file_watch.hpp"
#include "sqlite/immediate.hpp"
#include "sqlite/schema.hpp"
#include "sqlite/session.hpp"
#include "sqlite/soci/handle.hpp"
#include "sqlite/transaction.hpp"
#include "sqlite/transaction_state.hpp"
#include "sqlite/write_transaction.hpp"
#include "store/schema_check.hpp"

namespace rowlock::through_soci {

namespace {

using std::chrono::milliseconds;

/// Returns the result of `work` on the session's handle; failures become errors. `if_missing`
/// returns the remedy for a missing table or column.
auto on_handle(::soci::session& session, const auto& work, const auto& if_missing) {
  recognise_sqlite_conflicts();
  auto* const database = handle_of(session);
  try {
    return work(database);
  } catch (const sqlite::failure& failed) {
    const auto where = sqlite::url_of(database);
    sqlite::throw_error(failed, where, if_missing(where));
  }
}

auto on_table(::soci::session& session, const table_name& table, const auto& work) {
  return on_handle(session, work,
                   [&](const std::string& where) { return detail::how_to_migrate(where, table); });
}

auto on_file(::soci::session& session, const auto& work) {
  return on_handle(session, work, [](const auto&) { return "look at the nested exception"; });
}

/// Called while an exception of opening or reconnecting is handled.
[[noreturn]] void throw_not_opened() {
  try {
    throw_opening_failure();
  } catch (const sqlite::failure& failed) {
    sqlite::throw_error(failed, "sqlite3://", "look at the file");
  }
}

/// Reopens a replaced file: other processes do not see what is written to the old one.
void reconnect_if_moved(::soci::session& session) {
  if (!sqlite::has_moved(handle_of(session))) return;
  (void)sqlite::as_existing_file(sqlite::path_of(handle_of(session)));
  try {
    session.reconnect();
  } catch (const std::exception&) {
    throw_not_opened();
  }
}

/// The file that a SOCI session has open.
class file_of_session final : public sqlite::session_file {
 public:
  file_of_session(std::shared_ptr<::soci::session> session, const soci_options& options)
      : session_{std::move(session)},
        allow_network_file_system_{options.allow_network_file_system} {}

  sqlite3* open(sqlite::busy_wait& wait) override {
    auto* const database = handle_of(*session_);
    const auto file = sqlite::file_of(database);
    if (file.empty()) {
      throw error{
          errc::rejected,
          "the session's database is in memory, or its file was deleted: other processes do "
          "not see it; open the session with the path of a file"};
    }
    if (sqlite::is_in_transaction(database)) {
      throw error{errc::misuse,
                  "a session of the pool has an open transaction: end it, and leave the pool to "
                  "the store"};
    }
    if (!allow_network_file_system_) sqlite::refuse_network_file_system(file);
    sqlite::require_writable(database);
    sqlite::prepare_connection(database);
    sqlite::switch_to_wal(database, wait);
    return database;
  }
  [[nodiscard]] std::string where() const override { return sqlite::url_of(handle_of(*session_)); }
  [[nodiscard]] bool is_alive() const noexcept override {
    return !sqlite::has_moved(handle_of(*session_));
  }
  [[noreturn]] void throw_meaning_of(const sqlite::failure& failed,
                                     const std::string& if_missing) const override {
    sqlite::throw_error(failed, where(), if_missing);
  }

 private:
  const std::shared_ptr<::soci::session> session_;
  const bool allow_network_file_system_;
};

class sqlite_backend_type final : public soci_backend {
 public:
  sqlite_backend_type()
      : soci_backend{{.name = "sqlite3",
                      .migrations = sqlite_migrations,
                      .history = sqlite_history,
                      .limits = {.statements_at_once = 1},
                      .can_wait_inside = false}} {}

  [[nodiscard]] const ::soci::backend_factory& factory() const override { return existing_files(); }

  [[nodiscard]] std::string checked(std::string parameters,
                                    const soci_options& /*options*/) const override {
    (void)file_in(parameters);
    return parameters;
  }
  [[noreturn]] void throw_not_opened(const std::string& /*parameters*/) const override {
    through_soci::throw_not_opened();
  }
  [[nodiscard]] std::unique_ptr<detail::session> make_session(
      std::shared_ptr<::soci::session> session, const soci_options& options) const override {
    recognise_sqlite_conflicts();
    reconnect_if_moved(*session);
    return sqlite::make_session(std::make_unique<file_of_session>(std::move(session), options),
                                options.table, options.turn_timeout);
  }

  [[nodiscard]] listen way_to_listen(::soci::session& session) const override {
    return [file = sqlite::file_of(handle_of(session))](release_listener& listener) {
      return sqlite::watch_file(file, listener);
    };
  }

  void create_database(const std::string& parameters) const override {
    sqlite::create_file(file_in(parameters));
  }
  std::vector<migration> migrate(::soci::session& session, const table_name& table,
                                 history_option history) const override {
    sqlite::check_schema_name(table);
    return on_handle(
        session, [&](sqlite3* database) { return sqlite::migrate(database, table, history); },
        [](const auto&) { return sqlite::look_at_the_tables; });
  }

  [[nodiscard]] bool is_in_transaction(::soci::session& session) const override {
    return sqlite::is_in_transaction(handle_of(session));
  }
  begun_transaction begin(::soci::session& session, milliseconds slice) const override {
    auto ticket =
        on_file(session, [&](sqlite3* database) { return sqlite::try_begin(database, slice); });
    if (!ticket) return {.refused = refusal{.reason = refusal_reason::busy}};
    return {.kept = std::move(ticket)};
  }
  begun_transaction begin_locked(::soci::session& session, const lock_keys& keys,
                                 milliseconds slice, const soci_table& table) const override {
    auto begun = on_table(session, table.table, [&](sqlite3* database) {
      return sqlite::begin_locked(database, keys, slice, table.table);
    });
    return {.refused = std::move(begun.refused), .kept = std::move(begun.ticket)};
  }
  lock_attempt try_to_lock(::soci::session& session, const lock_keys& keys, milliseconds /*slice*/,
                           const soci_table& table, isolation /*known*/) const override {
    auto locked = on_table(session, table.table, [&](sqlite3* database) {
      return sqlite::lock_rows(database, keys, table.table);
    });
    if (!locked.acquired()) return {.refused = locked.refusal()};
    return {.locked = *std::move(locked)};
  }
  outcome<version> read_version(::soci::session& session, const lock_key& key,
                                const soci_table& table) const override {
    return on_table(session, table.table, [&](sqlite3* database) {
      return sqlite::read_version(database, key, table.table);
    });
  }
  commit_result try_commit(::soci::session& session, const lock_key& key, version seen,
                           const soci_table& table) const override {
    return on_table(session, table.table, [&](sqlite3* database) {
      return sqlite::try_commit(database, key, seen, table.table);
    });
  }
  commit_result try_commit(::soci::session& session, const versioned_table& table, const row_id& id,
                           std::int64_t seen) const override {
    return on_handle(
        session, [&](sqlite3* database) { return sqlite::try_commit(database, table, id, seen); },
        [](const auto&) { return sqlite::compare_the_names; });
  }
  outcome<std::int64_t> read_version(::soci::session& session, const versioned_table& table,
                                     const row_id& id) const override {
    return on_handle(
        session, [&](sqlite3* database) { return sqlite::read_version(database, table, id); },
        [](const auto&) { return sqlite::compare_the_names; });
  }
  outcome<void> lock_entity(::soci::session& session, const entity_table& entity, const row_id& id,
                            const retry_policy& /*wait*/,
                            const soci_table& /*table*/) const override {
    return on_handle(
        session, [&](sqlite3* database) { return sqlite::lock_entity(database, entity, id); },
        [](const auto&) { return sqlite::compare_the_names; });
  }
  /// All kinds of fence are the same here: this transaction is the file's one writer.
  detail::fence_proof prove(::soci::session& session, const fenced_leases& leases,
                            const fence_options& /*options*/,
                            std::span<const release_request> releases,
                            const soci_table& table) const override {
    return on_table(session, table.table, [&](sqlite3* database) {
      return sqlite::prove(database, leases, releases, table.table);
    });
  }
  void commit(::soci::session& session) const override {
    on_file(session, [](sqlite3* database) { sqlite::commit_begun(database); });
  }
  void roll_back(::soci::session& session) const noexcept override {
    sqlite::roll_back(handle_of(session));
  }
  void count_failures(::soci::session& session, const lock_keys& keys,
                      const soci_table& table) const override {
    sqlite::count_failure(handle_of(session), keys, table.table);
  }
};

}  // namespace

const soci_backend& sqlite_backend() {
  static const auto& backend = detail::never_destroyed<const sqlite_backend_type>();
  return backend;
}

}  // namespace rowlock::through_soci
