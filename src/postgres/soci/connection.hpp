// The libpq connection inside a soci::session.
#ifndef ROWLOCK_POSTGRES_SOCI_CONNECTION_HPP
#define ROWLOCK_POSTGRES_SOCI_CONNECTION_HPP

#include <exception>
#include <string>

#include "postgres/connection.hpp"

struct pg_conn;

namespace soci {
class session;
}

namespace rowlock::through_soci {

/// Executes with libpq, on the session's own connection: SOCI's statements refuse results of type
/// void, and its exceptions show values. Throws only `soci::postgresql_soci_error`, with an
/// SQLSTATE and the server's primary message. PostgreSQL forms that message without bound values
/// (except for classes 22 and 23).
class soci_connection final : public postgres::transaction_connection {
 public:
  /// Throws `error`: misuse for a session that is not open, rejected for a server that is too old.
  explicit soci_connection(::soci::session& session);

  postgres::result_set execute(const std::string& sql,
                               const postgres::bound_values& values) override;
  using connection::execute;
  [[nodiscard]] std::string encoding() const override;
  postgres::result_set run(const std::string& script) override;
  [[nodiscard]] postgres::fault fault_in(const std::exception& thrown) const override;

  // The members below take no round trip.

  [[nodiscard]] bool is_in_transaction() const noexcept;
  /// Throws `error`: misuse unless statements can be executed in an open transaction; unavailable
  /// if the connection is lost.
  void require_transaction() const;
  /// The same, unless a transaction can be begun.
  void require_no_transaction() const;
  /// Drops notices from now on; libpq would print them to stderr.
  void drop_notices() noexcept;
  [[nodiscard]] pg_conn* handle() const noexcept { return connection_; }

 private:
  /// Waits for the result of what libpq has sent; `sent` is what its function returned.
  postgres::result_set result_of(int sent);

  pg_conn* connection_;
};

/// The meaning of an exception of SOCI's backend for PostgreSQL.
postgres::fault postgres_fault_in(const std::exception& thrown);

}  // namespace rowlock::through_soci

#endif
