// The interface to one database connection, for the PostgreSQL statements.
#ifndef ROWLOCK_POSTGRES_CONNECTION_HPP
#define ROWLOCK_POSTGRES_CONNECTION_HPP

#include <exception>
#include <string>

#include "postgres/fault.hpp"
#include "postgres/values.hpp"

namespace rowlock::postgres {

/// One connection of one driver. Thread-safety: one thread at a time.
class connection {
 public:
  connection() = default;
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  virtual ~connection() = default;

  /// Throws the driver's exceptions. `sql` must live as long as the connection: it may be prepared.
  virtual result_set execute(const std::string& sql, const bound_values& values) = 0;
  result_set execute(const std::string& sql) { return execute(sql, bound_values{}); }

  /// The meaning of an exception, thrown by `execute` or elsewhere.
  [[nodiscard]] virtual fault fault_in(const std::exception& thrown) const = 0;
};

/// A connection that only a store uses, in autocommit.
class own_connection : public connection {
 public:
  /// Whether another call can use the connection, after a failed statement.
  [[nodiscard]] virtual bool is_idle() const noexcept = 0;
  /// For an idle connection: false once the server has closed it. No round trip.
  [[nodiscard]] virtual bool is_alive() const noexcept = 0;
  /// See `detail::session::disconnect`.
  virtual void disconnect() noexcept {}
};

/// A connection in a transaction that several calls share. Once lost, it executes nothing more.
class transaction_connection : public connection {
 public:
  /// `client_encoding`, as the driver knows it. No round trip.
  [[nodiscard]] virtual std::string encoding() const = 0;
  /// Executes several statements without values. Returns the result of the last one. Throws the
  /// driver's exceptions.
  virtual result_set run(const std::string& script) = 0;
};

}  // namespace rowlock::postgres

#endif
