// A connection of a store, whose statements are executed with libpq.
#ifndef ROWLOCK_POSTGRES_LIBPQ_CONNECTION_HPP
#define ROWLOCK_POSTGRES_LIBPQ_CONNECTION_HPP

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "postgres/connection.hpp"
#include "postgres/fault.hpp"
#include "postgres/libpq_result.hpp"
#include "rowlock/clock.hpp"
#include "rowlock/table_name.hpp"

namespace rowlock::postgres {

/// A driver's connection.
struct opened_connection {
  PGconn* handle = nullptr;
  /// Closes it, or gives it back, when it is destroyed.
  std::shared_ptr<void> owner = nullptr;
  /// Its startup packet set no settings: a service file or the application did.
  bool is_to_be_pinned = false;
};

/// Opens a new connection at each call, from any thread. Throws `error`, without the driver's text.
using connector = std::function<opened_connection()>;

/// Ends waits for answers.
struct answer_limit {
  /// The connection is given up when a call has taken this long, even if the network seems to work:
  /// a peer that hangs (a pooler, a proxy, a stopped server) still acknowledges every packet.
  std::optional<std::chrono::milliseconds> longest = std::nullopt;
  /// The connection is given up once this descriptor is readable; none if negative.
  int stop = -1;
};

/// Waits for the result of what was sent with libpq: of several statements, that of the last one or
/// of the first that failed. Null if the connection is lost. Gives the connection up at `until`
/// (`max` for no limit), or once `stop` is readable.
raw_result await_result(PGconn* connection, boot_clock::time_point until, int stop = -1);

/// A statement that failed, with the server's SQLSTATE and primary message. PostgreSQL forms that
/// message without bound values (except for classes 22 and 23).
class libpq_failure final : public std::runtime_error {
 public:
  /// `known` may be null.
  libpq_failure(const PGconn* connection, const PGresult* known);

  [[nodiscard]] const fault& meaning() const noexcept { return meaning_; }

 private:
  fault meaning_;
};

/// Whether statements may be prepared under names. Becomes false for good once a pooler does not
/// allow it. Shared by all connections of a store.
using may_prepare = std::atomic<bool>;

/// Thread-safety: one thread at a time.
class libpq_connection final : public own_connection {
 public:
  /// Without `names` no statement is prepared.
  libpq_connection(opened_connection opened, const answer_limit& limit, may_prepare* names);
  libpq_connection(const libpq_connection&) = delete;
  libpq_connection& operator=(const libpq_connection&) = delete;
  ~libpq_connection() override;

  /// Executes in autocommit. With names, `sql` must live as long as this connection: it is prepared
  /// at its first use. A statement whose prepared form is refused has done nothing, and is sent
  /// once more, unnamed. Throws `libpq_failure`.
  result_set execute(const std::string& sql, const bound_values& values) override;
  using connection::execute;
  /// The same of a statement that is executed once.
  result_set execute_unnamed(const std::string& sql, const bound_values& values);

  [[nodiscard]] fault fault_in(const std::exception& thrown) const override;

  /// In autocommit, with no statement under way.
  [[nodiscard]] bool is_idle() const noexcept override;
  /// False once the server has closed the connection: nothing sent on it would be executed. False,
  /// too, if the table was changed since its statements were prepared: another connection prepares
  /// them anew. No round trip.
  [[nodiscard]] bool is_alive() const noexcept override;
  void disconnect() noexcept override;

  [[nodiscard]] PGconn* handle() const noexcept { return opened_.handle; }

 private:
  const std::string& prepared(const std::string& sql, boot_clock::time_point until);
  result_set execute_unnamed(const std::string& sql, const bound_values& values,
                             boot_clock::time_point until);
  /// Waits for the result of what libpq has sent; `sent` is what its function returned.
  result_set result_of(int sent, boot_clock::time_point until);
  [[nodiscard]] boot_clock::time_point limit_from_now() const;

  const opened_connection opened_;
  const answer_limit limit_;
  may_prepare* const names_;
  std::map<const std::string*, std::string> prepared_;
  bool is_outdated_ = false;
};

/// Time limits for sessions that were opened without them.
struct time_pins {
  std::optional<std::chrono::milliseconds> statement_timeout = std::nullopt;
  std::optional<std::chrono::milliseconds> lock_timeout = std::nullopt;
};

/// For a connection whose startup did not set them: sets READ COMMITTED, the encoding, and a time
/// limit unless its own options set one. Has no effect behind a pooler, which shares its sessions
/// with other clients. Throws `error`. One round trip.
void pin(libpq_connection& opened, const postgres_table& table, const time_pins& limits);

}  // namespace rowlock::postgres

#endif
