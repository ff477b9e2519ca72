// What rowlock asks of a database by way of SOCI: one implementation for each backend.
#ifndef ROWLOCK_SOCI_BACKEND_HPP
#define ROWLOCK_SOCI_BACKEND_HPP

#include <chrono>
#include <cstdint>
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
#include "store/session.hpp"

namespace soci {
class backend_factory;
class session;
}  // namespace soci

namespace rowlock::through_soci {

/// All rows locked; or refused; or neither, when a row is missing and was not to be created.
struct lock_attempt {
  std::optional<row_lock> locked = std::nullopt;
  std::optional<refusal> refused = std::nullopt;
};

/// Who knows the isolation of the caller's transaction.
enum class isolation { as_we_began_it, as_the_session_says };

/// A transaction of ours on the application's session.
struct begun_transaction {
  std::optional<refusal> refused = std::nullopt;
  /// What the soci_backend wants to keep until the transaction ends.
  std::shared_ptr<void> kept = nullptr;
};

/// One backend. Everything on a session of the application throws `error`, except for conflicts:
/// those are thrown as the driver's exceptions (with texts of our own), so that `retry` and
/// `run_fenced` know them.
///
/// Thread-safety: all members may be called from any thread, each session by one at a time.
class soci_backend {
 public:
  soci_backend() = default;
  soci_backend(const soci_backend&) = delete;
  soci_backend& operator=(const soci_backend&) = delete;
  virtual ~soci_backend() = default;

  /// The scheme of its connection strings, and what `soci::session::get_backend_name` says.
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  [[nodiscard]] virtual const soci::backend_factory& factory() const = 0;
  [[nodiscard]] virtual std::vector<migration> migrations(const table_name& table) const = 0;

  // For a store. `parameters` is what follows `backend://`.

  /// The parameters with our time limits where they say none. Throws `error` (misuse) for those
  /// that cannot work.
  [[nodiscard]] virtual std::string checked(std::string parameters,
                                            const soci_options& options) const = 0;
  /// Called while an exception of opening a session with `parameters` is being handled; they are
  /// empty for a session of the application's pool, which does not tell them.
  [[noreturn]] virtual void throw_not_opened(const std::string& parameters) const = 0;
  /// Of a session that was just opened by us, not by the application.
  virtual void quieten(soci::session& /*session*/) const {}
  /// The port on `session`, whose settings are changed. `options` outlive it. Throws `error`: of a
  /// session that a store cannot use, rejected. SOCI's exceptions hold the statement with its
  /// values: they are never nested, and their texts never copied.
  [[nodiscard]] virtual std::unique_ptr<detail::session> make_session(
      std::shared_ptr<soci::session> session, const soci_options& options) const = 0;

  /// Creates the database where that is a thing of its own (a file).
  virtual void create_database(const std::string& /*parameters*/) const {}
  /// Applies what is missing, on a session of ours.
  virtual std::vector<migration> migrate(soci::session& session, const table_name& table) const = 0;

  /// Limits of a store with connections enough.
  [[nodiscard]] virtual store_limits limits() const noexcept { return {}; }

  // In the application's transaction. All but `begin` and `begin_locked` first throw (misuse)
  // unless one is open, without a round trip.

  [[nodiscard]] virtual bool is_in_transaction(soci::session& session) const = 0;
  /// Misuse in an open transaction. Refused (busy) when it could not begin within `slice`.
  virtual begun_transaction begin(soci::session& session,
                                  std::chrono::milliseconds slice) const = 0;
  /// Begins one that holds the rows; refused, there is none. Missing rows are created before it.
  virtual begun_transaction begin_locked(soci::session& session, const lock_keys& keys,
                                         std::chrono::milliseconds slice,
                                         const soci_table& table) const = 0;
  /// Whether a refusal can end while the caller's transaction is open. Otherwise waiting in it
  /// would only keep the holder from releasing.
  [[nodiscard]] virtual bool can_wait_inside() const noexcept { return true; }
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
  /// Throws (misuse) where this fence cannot hold here. Tries for a moment. `releases` are what is
  /// to be written into the rows beyond the proof, one for each of `leases` in their order; none:
  /// the rows stay as they are.
  virtual detail::fence_proof prove(soci::session& session, const fenced_leases& leases,
                                    const fence_options& options,
                                    std::span<const release_request> releases,
                                    const soci_table& table) const = 0;
  /// Throws `error` (outcome_unknown) when the answer got lost.
  virtual void commit(soci::session& session) const = 0;
  virtual void roll_back(soci::session& session) const noexcept = 0;
  /// failure_count + 1 in a transaction of its own, without waiting.
  virtual void count_failures(soci::session& session, const lock_keys& keys,
                              const soci_table& table) const = 0;
};

/// A backend and its parameters, split from `backend://parameters`, or of a URL of MariaDB or
/// MySQL.
struct connection_target {
  const soci_backend* backend;
  std::string parameters;
};

/// Throws `error`: rejected for a backend that is not supported, misuse for a string without one.
/// No message shows the string.
connection_target target_of(std::string_view as_given);

/// Of an open session; throws `error` as above.
const soci_backend& backend_of(soci::session& session);

/// One for each database; backends.cpp lists them.
const soci_backend& mysql_backend();
const soci_backend& postgres_backend();
const soci_backend& sqlite_backend();

}  // namespace rowlock::through_soci

#endif
