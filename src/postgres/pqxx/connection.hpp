// A libpqxx connection: opened, pooled, its errors.
#ifndef ROWLOCK_POSTGRES_PQXX_CONNECTION_HPP
#define ROWLOCK_POSTGRES_PQXX_CONNECTION_HPP

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <pqxx/pqxx>
#include <string>

#include "postgres/connecting.hpp"
#include "postgres/connection.hpp"
#include "postgres/fault.hpp"
#include "postgres/pqxx/answer_watch.hpp"
#include "rowlock/postgres_store.hpp"

namespace rowlock::postgres {

/// Throws `error`: unavailable, or rejected where the server does not let us in or is too old. The
/// driver's own exception is not nested: its text may hold parts of a password.
std::shared_ptr<pqxx::connection> connect(const conninfo& to);

/// Whether statements may be prepared under names; false for good once a pooler turned out not to
/// allow it. One for all connections of a store.
using may_prepare = std::atomic<bool>;

/// Thread-safety: one thread at a time.
class pqxx_connection final : public own_connection {
 public:
  pqxx_connection(std::shared_ptr<pqxx::connection> opened, may_prepare& names,
                  answer_watch& answers);

  /// In autocommit. `sql` lives as long as this connection: it is prepared at its first use. One
  /// whose prepared form is refused has done nothing, and is sent once more, unnamed. Throws what
  /// libpqxx throws.
  result_set execute(const std::string& sql, const bound_values& values) override;
  using connection::execute;

  [[nodiscard]] fault fault_in(const std::exception& thrown) const override;

  /// For a connection that did not ask for it at its start: READ COMMITTED, and a time limit unless
  /// its own options say otherwise. Without effect behind a pooler, whose sessions are not ours.
  /// Throws what libpqxx throws. One round trip.
  void pin(const std::string& sql, std::optional<std::chrono::milliseconds> statement_timeout,
           std::optional<std::chrono::milliseconds> lock_timeout);

  /// False when the server has closed the connection meanwhile: nothing that is sent on it would be
  /// executed. False, too, when the table was changed since its statements were prepared: another
  /// connection prepares them anew. No round trip.
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

/// A new connection at each call, from any thread. Throws `error`, without the driver's words.
using connector = std::function<std::shared_ptr<pqxx::connection>()>;

connector connector_to(const conninfo& to);
/// One call of `make` at a time. Throws `error` (misuse) where it makes something else.
connector connector_by(detail::make_connection make);

/// As far as libpqxx tells it; empty for an exception that is not of libpqxx.
fault fault_in(const std::exception& thrown);

/// Called while an exception is being handled: throws the `error` it means, as the other function
/// of this name does.
[[noreturn]] void throw_as_error(effects had, const table_name* lock_table);

}  // namespace rowlock::postgres

#endif
