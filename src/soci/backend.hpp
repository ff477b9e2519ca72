// The interface to a database through SOCI, with one implementation for each backend.
#ifndef ROWLOCK_SOCI_BACKEND_HPP
#define ROWLOCK_SOCI_BACKEND_HPP

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rowlock/fence.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/outcome.hpp"
#include "rowlock/port/store.hpp"
#include "rowlock/row_lock.hpp"
#include "rowlock/soci.hpp"
#include "rowlock/soci_store.hpp"
#include "rowlock/table_name.hpp"
#include "store/lock_attempt.hpp"
#include "store/session.hpp"

namespace soci {
class backend_factory;
class session;
}  // namespace soci

namespace rowlock::through_soci {

using detail::lock_attempt;

/// The source of the isolation level of the caller's transaction.
enum class isolation { as_we_began_it, as_the_session_says };

/// A transaction that rowlock has begun on the application's session.
struct begun_transaction {
  std::optional<refusal> refused = std::nullopt;
  /// State of the backend that must live until the transaction ends.
  std::shared_ptr<void> kept = nullptr;
};

/// One backend. Calls on a session of the application throw `error`, except for conflicts.
/// Conflicts are thrown as the driver's exceptions, with texts of rowlock, so that `retry` and
/// `run_fenced` recognise them.
///
/// Thread-safety: all members may be called from any thread, but each session by one thread at a
/// time.
class soci_backend {
 public:
  /// What needs no session.
  struct facts {
    /// The scheme of its connection strings, and the result of `soci::session::get_backend_name`.
    std::string_view name;
    std::vector<migration> (*migrations)(const table_name& table);
    migration (*history)(const table_name& table);
    /// Of a store with any number of connections.
    store_limits limits = {.statements_at_once = std::numeric_limits<unsigned>::max()};
    /// Whether a refusal can end while the caller's transaction is open. If not, waiting inside it
    /// would only keep the holder from releasing.
    bool can_wait_inside = true;
  };

  explicit soci_backend(const facts& known) : about{known} {}
  soci_backend(const soci_backend&) = delete;
  soci_backend& operator=(const soci_backend&) = delete;
  virtual ~soci_backend() = default;

  const facts about;

  [[nodiscard]] virtual const soci::backend_factory& factory() const = 0;

  // For a store. `parameters` is the text after `backend://`.

  /// Adds the time limits of `options` that `parameters` do not set. Throws `error` (misuse) for
  /// parameters that cannot work.
  [[nodiscard]] virtual std::string checked(std::string parameters,
                                            const soci_options& options) const = 0;
  /// Called while an exception of opening a session with `parameters` is handled. They are empty
  /// for a session of the application's pool, whose parameters are unknown.
  [[noreturn]] virtual void throw_not_opened(const std::string& parameters) const = 0;
  /// Drops the notices of a session that rowlock itself has just opened.
  virtual void quieten(soci::session& /*session*/) const {}
  /// The store port on `session`, whose settings are changed. `options` must outlive it. Throws
  /// `error`: rejected for a session that a store cannot use. SOCI's exceptions hold the statement
  /// with its values, so they are never nested and their texts never copied.
  [[nodiscard]] virtual std::unique_ptr<detail::session> make_session(
      std::shared_ptr<soci::session> session, const soci_options& options) const = 0;

  /// Makes the subscription of a store that has such a session. Null: releases are not announced.
  using listen = std::function<std::unique_ptr<subscription>(release_listener&)>;
  [[nodiscard]] virtual listen way_to_listen(soci::session& /*session*/) const { return {}; }

  /// Creates the database if it is a file; otherwise does nothing.
  virtual void create_database(const std::string& /*parameters*/) const {}
  /// Applies the missing migrations, on a session that rowlock has opened.
  virtual std::vector<migration> migrate(soci::session& session, const table_name& table,
                                         history_option history) const = 0;

  // In the application's transaction. All except `begin` and `begin_locked` first throw `error`
  // (misuse) unless a transaction is open, without a round trip.

  [[nodiscard]] virtual bool is_in_transaction(soci::session& session) const = 0;
  /// Throws `error` (misuse) in an open transaction. Refused (busy) if it could not begin within
  /// `slice`.
  virtual begun_transaction begin(soci::session& session,
                                  std::chrono::milliseconds slice) const = 0;
  /// Begins a transaction that holds the rows; if refused, none is open. Missing rows are created
  /// before it.
  virtual begun_transaction begin_locked(soci::session& session, const lock_keys& keys,
                                         std::chrono::milliseconds slice,
                                         const soci_table& table) const = 0;
  /// Waits for row locks at most `slice`; creates missing rows.
  virtual lock_attempt try_to_lock(soci::session& session, const lock_keys& keys,
                                   std::chrono::milliseconds slice, const soci_table& table,
                                   isolation known) const = 0;
  virtual outcome<version> read_version(soci::session& session, const lock_key& key,
                                        const soci_table& table) const = 0;
  virtual commit_result try_commit(soci::session& session, const lock_key& key, version seen,
                                   const soci_table& table) const = 0;
  virtual commit_result try_commit(soci::session& session, const versioned_table& table,
                                   const row_id& id, std::int64_t seen) const = 0;
  virtual outcome<std::int64_t> read_version(soci::session& session, const versioned_table& table,
                                             const row_id& id) const = 0;
  /// Waits for the row as far as the database can, at most as `wait` says.
  virtual outcome<void> lock_entity(soci::session& session, const entity_table& entity,
                                    const row_id& id, const retry_policy& wait,
                                    const soci_table& table) const = 0;
  /// Throws `error` (misuse) if this fence cannot hold here. Tries for a moment. `releases` are
  /// written into the rows in addition to the proof, one for each of `leases`, in their order. If
  /// there are none, the rows stay as they are.
  virtual detail::fence_proof prove(soci::session& session, const fenced_leases& leases,
                                    const fence_options& options,
                                    std::span<const release_request> releases,
                                    const soci_table& table) const = 0;
  /// Throws `error` (outcome_unknown) if the answer was lost.
  virtual void commit(soci::session& session) const = 0;
  virtual void roll_back(soci::session& session) const noexcept = 0;
  /// Adds 1 to each failure_count, in a separate transaction, without waiting.
  virtual void count_failures(soci::session& session, const lock_keys& keys,
                              const soci_table& table) const = 0;
};

/// A backend and its parameters, split from `backend://parameters` or from a MariaDB or MySQL URL.
struct connection_target {
  const soci_backend* backend;
  std::string parameters;
};

/// Throws `error`: rejected for a backend that is not supported, misuse for a string without one.
/// No message shows the string.
connection_target target_of(std::string_view as_given);

/// The backend of an open session. Throws `error` as `target_of`.
const soci_backend& backend_of(soci::session& session);

/// One for each database; backends.cpp lists them.
const soci_backend& mysql_backend();
const soci_backend& postgres_backend();
const soci_backend& sqlite_backend();

}  // namespace rowlock::through_soci

#endif
