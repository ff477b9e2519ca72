// The libpq connection inside a soci::session.
#ifndef ROWLOCK_POSTGRES_SOCI_CONNECTION_HPP
#define ROWLOCK_POSTGRES_SOCI_CONNECTION_HPP

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "postgres/connection.hpp"

struct pg_conn;
struct pg_result;

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
  using raw_result = std::unique_ptr<pg_result, void (*)(pg_result*)>;

  /// `longest_answer` is how long a statement may go unanswered before the connection is given up,
  /// even if the network seems to work; none for a session of the application. Throws `error`:
  /// misuse for a session that is not open, rejected for a server that is too old.
  explicit soci_connection(::soci::session& session,
                           std::optional<std::chrono::milliseconds> longest_answer = std::nullopt);

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
  /// Connected, and in autocommit.
  [[nodiscard]] bool is_idle() const noexcept;
  /// For an idle connection: false once the server has closed it.
  [[nodiscard]] bool is_alive() const noexcept;
  /// The server and libpq see a connection that is lost.
  void disconnect() noexcept;
  /// Drops notices from now on; libpq would print them to stderr.
  void drop_notices() noexcept;
  /// The process id that the server reported; a pooler makes one up.
  [[nodiscard]] int server_process() const noexcept;

 private:
  raw_result execute_with(const std::function<int()>& send);
  void wait_for_result() const;
  [[noreturn]] void fail(const pg_result* known) const;

  pg_conn* connection_;
  std::optional<std::chrono::milliseconds> longest_answer_;
};

/// The meaning of an exception of SOCI's backend for PostgreSQL.
postgres::fault postgres_fault_in(const std::exception& thrown);

}  // namespace rowlock::through_soci

#endif
