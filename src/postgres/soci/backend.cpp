// The PostgreSQL backend of SOCI.
#include "soci/backend.hpp"

#include <soci/postgresql/soci-postgresql.h>
#include <soci/soci.h>
#include <soci/version.h>

#include <algorithm>
#include <exception>
#include <span>
#include <string_view>
#include <utility>

#include "base/never_destroyed.hpp"
#include "postgres/connecting.hpp"
#include "postgres/libpq_connection.hpp"
#include "postgres/session.hpp"
#include "postgres/soci/connection.hpp"
#include "postgres/sql/session.hpp"
#include "postgres/sql/transactions.hpp"
#include "postgres/transaction.hpp"
#include "rowlock/error.hpp"
#include "rowlock/retry.hpp"
#include "rowlock/row_transaction.hpp"

namespace rowlock::through_soci {

namespace {

using std::chrono::milliseconds;

::soci::session& in_transaction(::soci::session& session) {
  soci_connection{session}.require_transaction();
  return session;
}

/// Whether the text is `keyword=...`, and not the rest of one of libpq's URIs.
bool has_keywords(std::string_view parameters) {
  const auto end = parameters.find_first_not_of("abcdefghijklmnopqrstuvwxyz_ ");
  return parameters.find('=') == end;
}

/// SOCI passes keywords on, but not libpq's URIs, because it uses their scheme itself.
postgres::conninfo conninfo_of(const std::string& parameters, const postgres::time_limits& limits) {
  return {has_keywords(parameters) ? parameters : "postgresql://" + parameters, limits};
}

/// The table in the form that the statements take.
postgres_table on_postgres(const soci_table& table) {
  return {table.table, table.clock_skew.value_or(milliseconds::zero())};
}

/// SOCI 4.0 may lose one of several blanks, and a double quote that follows a blank and `=`.
/// SOCI 4.1 takes the text apart without libpq's escapes, and puts quotes around blanks alone.
bool is_spoilt_by_soci(const std::string& value) {
#if SOCI_VERSION >= 400100
  if (value.find_first_of("'\t\n\v\f\r") != std::string::npos) return true;
#endif
  return std::count(value.begin(), value.end(), ' ') > 1 || value.find("=\"") != std::string::npos;
}

void begin(soci_connection& used) {
  used.require_no_transaction();
  try {
    used.run(std::string{postgres::sql::begin});
  } catch (const std::exception& thrown) {
    postgres::throw_as_error(used.fault_in(thrown), postgres::effects::none, nullptr);
  }
}

void roll_back(soci_connection& used) noexcept {
  try {
    if (used.is_in_transaction()) used.run(std::string{postgres::sql::roll_back});
  } catch (const std::exception&) {  // the connection is lost, and the transaction with it
  }
}

/// Throws the driver's exception of a conflict unchanged.
void commit(soci_connection& used) {
  try {
    used.run(std::string{postgres::sql::commit});
  } catch (const std::exception& thrown) {
    const auto found = used.fault_in(thrown);
    if (found.is_conflict()) throw;
    if (found.is_lost_connection()) postgres::throw_failed_commit(found);
    postgres::throw_as_error(found, postgres::effects::none, nullptr);
  }
}

void commit_unless_in_conflict(soci_connection& used) {
  try {
    commit(used);
  } catch (const std::exception& thrown) {
    if (!used.fault_in(thrown).is_conflict()) throw;
  }
}

class postgres_backend_type final : public soci_backend {
 public:
  postgres_backend_type()
      : soci_backend{{.name = "postgresql",
                      .migrations = postgres_migrations,
                      .history = postgres_history}} {
    detail::recognise_conflicts(
        [](const std::exception& thrown) { return postgres_fault_in(thrown).is_conflict(); });
  }

  [[nodiscard]] const ::soci::backend_factory& factory() const override {
    return ::soci::postgresql;
  }

  /// Without startup options, which a pooler might refuse: `pin_session` sets them instead.
  [[nodiscard]] std::string checked(std::string parameters,
                                    const soci_options& options) const override {
    const auto to = conninfo_of(parameters, {.connect = options.connect_timeout});
    if (to.has_given(is_spoilt_by_soci)) {
      throw error{errc::misuse,
                  "SOCI may spoil a connection parameter that has several blanks, or quotes (from "
                  "4.1 on: or tabs): put it into a service file or a password file of libpq's"};
    }
    return to.text_without_options();
  }

  [[noreturn]] void throw_not_opened(const std::string& /*parameters*/) const override {
    try {
      throw;
    } catch (const std::exception& thrown) {
      postgres::throw_failed_connect(thrown.what(), "PostgreSQL, as SOCI connects to it,");
    }
  }

  void quieten(::soci::session& session) const override { soci_connection{session}.drop_notices(); }

  [[nodiscard]] std::unique_ptr<detail::session> make_session(
      std::shared_ptr<::soci::session> session, const soci_options& options) const override {
    const soci_connection given{*session};
    given.require_no_transaction();
    const postgres::session_options known{
        .table = {options.table, options.clock_skew.value_or(milliseconds::zero())}};
    // Prepared statements would stay in a session of the application.
    auto own = std::make_unique<postgres::libpq_connection>(
        postgres::opened_connection{given.handle(), std::move(session)},
        postgres::answer_limit{.longest = options.answer_timeout}, nullptr);
    postgres::pin(*own, known.table,
                  {options.statement_timeout,
                   postgres::lock_limit(options.lock_timeout, options.statement_timeout)});
    return postgres::make_session(std::move(own), known);
  }

  std::vector<migration> migrate(::soci::session& session, const table_name& table,
                                 history_option history) const override {
    soci_connection used{session};
    through_soci::begin(used);
    try {
      auto applied = postgres::migrate(used, table, history);
      through_soci::commit(used);
      return applied;
    } catch (const std::exception& thrown) {
      const auto found = used.fault_in(thrown);
      through_soci::roll_back(used);
      postgres::throw_as_error(found, postgres::effects::none, &table);
    }
  }

  [[nodiscard]] bool is_in_transaction(::soci::session& session) const override {
    return soci_connection{session}.is_in_transaction();
  }

  begun_transaction begin(::soci::session& session, milliseconds /*slice*/) const override {
    soci_connection used{session};
    through_soci::begin(used);
    return {};
  }

  begun_transaction begin_locked(::soci::session& session, const lock_keys& keys,
                                 milliseconds slice, const soci_table& table) const override {
    soci_connection used{session};
    const auto or_roll_back = [&used](const auto& work) {
      try {
        return work();
      } catch (...) {
        through_soci::roll_back(used);
        throw;
      }
    };
    return {.refused = detail::begin_and_lock(
                keys.in_order().front(), [&] { through_soci::begin(used); },
                [&] {
                  return or_roll_back([&] {
                    return postgres::try_to_lock(used, keys, slice, on_postgres(table),
                                                 postgres::missing_rows::report);
                  });
                },
                [&] {
                  or_roll_back([&] {
                    postgres::create_rows(used, keys, on_postgres(table));
                    commit_unless_in_conflict(used);
                  });
                },
                [&] { through_soci::roll_back(used); })};
  }

  lock_attempt try_to_lock(::soci::session& session, const lock_keys& keys, milliseconds slice,
                           const soci_table& table, isolation /*known*/) const override {
    soci_connection used{in_transaction(session)};
    auto tried = postgres::try_to_lock(used, keys, slice, on_postgres(table),
                                       postgres::missing_rows::create);
    return {std::move(tried.locked), std::move(tried.refused)};
  }

  outcome<version> read_version(::soci::session& session, const lock_key& key,
                                const soci_table& table) const override {
    soci_connection used{in_transaction(session)};
    return postgres::read_version(used, key, on_postgres(table));
  }

  commit_result try_commit(::soci::session& session, const lock_key& key, version seen,
                           const soci_table& table) const override {
    soci_connection used{in_transaction(session)};
    return postgres::try_commit(used, key, seen, on_postgres(table));
  }

  commit_result try_commit(::soci::session& session, const versioned_table& table, const row_id& id,
                           std::int64_t seen) const override {
    soci_connection used{in_transaction(session)};
    return postgres::try_commit(used, table, id, seen);
  }

  outcome<std::int64_t> read_version(::soci::session& session, const versioned_table& table,
                                     const row_id& id) const override {
    soci_connection used{in_transaction(session)};
    return postgres::read_version(used, table, id);
  }

  outcome<void> lock_entity(::soci::session& session, const entity_table& entity, const row_id& id,
                            const retry_policy& wait, const soci_table& /*table*/) const override {
    soci_connection used{in_transaction(session)};
    return postgres::lock_entity(used, entity, id, wait);
  }

  detail::fence_proof prove(::soci::session& session, const fenced_leases& leases,
                            const fence_options& options, std::span<const release_request> releases,
                            const soci_table& table) const override {
    soci_connection used{in_transaction(session)};
    auto proved =
        postgres::prove(used, leases, options, releases, postgres::naming::unwanted, table.table);
    if (proved.loses_changes) {
      through_soci::roll_back(used);
      postgres::throw_lost_changes(table.table);
    }
    return std::move(proved.of_rows);
  }

  void commit(::soci::session& session) const override {
    soci_connection used{in_transaction(session)};
    through_soci::commit(used);
  }

  void roll_back(::soci::session& session) const noexcept override {
    try {
      soci_connection used{session};
      through_soci::roll_back(used);
    } catch (const std::exception&) {  // a session that was closed has nothing to roll back
    }
  }

  void count_failures(::soci::session& session, const lock_keys& keys,
                      const soci_table& table) const override {
    soci_connection used{session};
    through_soci::begin(used);
    try {
      postgres::count_failures(used, keys, on_postgres(table));
      through_soci::commit(used);
    } catch (...) {
      through_soci::roll_back(used);
      throw;
    }
  }
};

}  // namespace

const soci_backend& postgres_backend() {
  static const auto& backend = detail::never_destroyed<const postgres_backend_type>();
  return backend;
}

}  // namespace rowlock::through_soci
