// Connections that libpqxx opens, and its errors.
#ifndef ROWLOCK_POSTGRES_PQXX_CONNECTION_HPP
#define ROWLOCK_POSTGRES_PQXX_CONNECTION_HPP

#include <libpq-fe.h>

#include <exception>
#include <functional>
#include <memory>
#include <pqxx/pqxx>
#include <string>
#include <type_traits>
#include <utility>

#include "postgres/connecting.hpp"
#include "postgres/connection.hpp"
#include "postgres/fault.hpp"
#include "postgres/libpq_connection.hpp"
#include "rowlock/postgres_store.hpp"

namespace rowlock::postgres {

/// Throws `error`: unavailable, or rejected if the server refuses the login or is too old. The
/// driver's exception is not nested: its text may hold parts of a password.
std::shared_ptr<pqxx::connection> connect(const conninfo& to);

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

/// Executes a statement without a name: the server parses it anew each time.
result_set execute(pqxx::transaction_base& transaction, const std::string& sql,
                   const bound_values& values);

/// Executes several statements without values. Returns the result of the last one.
result_set run(pqxx::transaction_base& transaction, const std::string& script);

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
