// The way to a server, as far as the statements for PostgreSQL need one.
#ifndef ROWLOCK_POSTGRES_CONNECTION_HPP
#define ROWLOCK_POSTGRES_CONNECTION_HPP

#include <exception>
#include <string>

#include "postgres/fault.hpp"
#include "postgres/values.hpp"

namespace rowlock::postgres {

/// One connection through one driver. Thread-safety: one thread at a time.
class connection {
 public:
  connection() = default;
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  virtual ~connection() = default;

  /// Throws what the driver throws. `sql` lives as long as the line: it may be prepared.
  virtual result_set execute(const std::string& sql, const bound_values& values) = 0;
  result_set execute(const std::string& sql) { return execute(sql, bound_values{}); }

  /// What an exception means that `execute` threw, or anything else.
  [[nodiscard]] virtual fault fault_in(const std::exception& thrown) const = 0;
};

/// One that a store alone uses. In autocommit.
class own_connection : public connection {
 public:
  /// After a statement that failed: whether another call can use it.
  [[nodiscard]] virtual bool is_idle() const noexcept = 0;
  /// Of an idle one: false once the server has closed it. No round trip.
  [[nodiscard]] virtual bool is_alive() const noexcept = 0;
};

/// One in a transaction that several calls share. After a lost connection it executes nothing more.
class transaction_connection : public connection {
 public:
  /// `client_encoding`, as the driver knows it: no round trip.
  [[nodiscard]] virtual std::string encoding() const = 0;
  /// Several statements, without values. Throws what the driver throws.
  virtual void run(const std::string& script) = 0;
};

}  // namespace rowlock::postgres

#endif
