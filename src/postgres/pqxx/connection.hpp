// A libpqxx connection of a store, and its errors.
#ifndef ROWLOCK_POSTGRES_PQXX_CONNECTION_HPP
#define ROWLOCK_POSTGRES_PQXX_CONNECTION_HPP

#include <libpq-fe.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <pqxx/pqxx>
#include <string>
#include <type_traits>
#include <utility>

#include "postgres/connecting.hpp"
#include "postgres/connection.hpp"
#include "postgres/fault.hpp"
#include "postgres/pqxx/answer_watch.hpp"
#include "rowlock/postgres_store.hpp"

namespace rowlock::postgres {

/// Throws `error`: unavailable, or rejected if the server refuses the login or is too old. The
/// driver's exception is not nested: its text may hold parts of a password.
std::shared_ptr<pqxx::connection> connect(const conninfo& to);

/// Whether statements may be prepared under names. Becomes false for good once a pooler does not
/// allow it. Shared by all connections of a store.
using may_prepare = std::atomic<bool>;

/// Thread-safety: one thread at a time.
class pqxx_connection final : public own_connection {
 public:
  pqxx_connection(std::shared_ptr<pqxx::connection> opened, may_prepare& names,
                  answer_watch& answers);

  /// Executes in autocommit. `sql` must live as long as this connection: it is prepared at its
  /// first use. A statement whose prepared form is refused has done nothing, and is sent once more,
  /// unnamed. Throws libpqxx's exceptions.
  result_set execute(const std::string& sql, const bound_values& values) override;
  using connection::execute;

  [[nodiscard]] fault fault_in(const std::exception& thrown) const override;

  /// For a connection whose startup did not set them: sets READ COMMITTED, and a time limit unless
  /// its own options set one. Has no effect behind a pooler, which shares its sessions with other
  /// clients. Throws libpqxx's exceptions. One round trip.
  void pin(const std::string& sql, std::optional<std::chrono::milliseconds> statement_timeout,
           std::optional<std::chrono::milliseconds> lock_timeout);

  /// False once the server has closed the connection: nothing sent on it would be executed. False,
  /// too, if the table was changed since its statements were prepared: another connection prepares
  /// them anew. No round trip.
  [[nodiscard]] bool is_alive() const noexcept override;
  [[nodiscard]] bool is_idle() const noexcept override { return true; }

 private:
  result_set execute_unnamed(const std::string& sql, const bound_values& values);
  const std::string& prepared(const std::string& sql);

  std::shared_ptr<pqxx::connection> connection_;
  may_prepare& names_;
  answer_watch::connection answers_;
  std::map<const std::string*, std::string> prepared_;
  bool is_outdated_ = false;
};

// In execute.cpp, the only file that depends on the version of libpqxx.

/// `pqxx::connection`, or the base of libpqxx 6's connections.
using any_connection =
    std::remove_cvref_t<decltype(std::declval<pqxx::transaction_base&>().conn())>;

/// libpq's handle, for what libpqxx does not report. Null for a connection that is closed.
PGconn* handle_of(const any_connection& connection) noexcept;

/// libpqxx 6 rolls back when a statement of `exec` fails. From `watch_for_aborts` on, whether the
/// last rollback on the connection came right after a failed statement.
void watch_for_aborts(any_connection& connection) noexcept;
bool was_aborted_by_driver(const any_connection& connection) noexcept;

/// False once `exit()` destroys what was made before the first result of libpqxx 6. libpqxx makes a
/// table for that result, needs it for every other one, and destroys it then. A store in a static
/// of the application may be destroyed later.
bool has_results() noexcept;

/// Executes a statement in autocommit, without a name; also when libpqxx makes no more results.
result_set execute(any_connection& connection, const std::string& sql, const bound_values& values);

/// Executes a statement without a name: the server parses it anew each time.
result_set execute(pqxx::transaction_base& transaction, const std::string& sql,
                   const bound_values& values);

/// Executes a statement that was prepared on the transaction's connection.
result_set execute_prepared(pqxx::transaction_base& transaction, const std::string& name,
                            const bound_values& values);

/// Executes several statements without values. Returns the result of the last one.
result_set run(pqxx::transaction_base& transaction, const std::string& script);

struct connected {
  std::shared_ptr<pqxx::connection> connection;
  /// Its startup packet set no settings: a service file or the application did.
  bool is_to_be_pinned;
};

/// Opens a new connection at each call, from any thread. Throws `error`, without the driver's text.
using connector = std::function<connected()>;

connector connector_to(const conninfo& to);
/// The same; when a login is refused, `renewed` returns what to connect to from now on.
connector connector_to(const conninfo& to, std::function<conninfo()> renewed);
/// Calls `make` one at a time. Throws `error` (misuse) if it makes something else.
connector connector_by(detail::make_connection make);

/// What libpqxx reports; empty for an exception that is not of libpqxx.
fault fault_in(const std::exception& thrown);

/// Called while an exception is handled. Throws the `error` it means, as the other function of this
/// name.
[[noreturn]] void throw_as_error(effects had, const table_name* lock_table);

}  // namespace rowlock::postgres

#endif
