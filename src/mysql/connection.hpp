// The MYSQL handle of a SOCI session, and result sets.
#ifndef ROWLOCK_MYSQL_CONNECTION_HPP
#define ROWLOCK_MYSQL_CONNECTION_HPP

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mysql/sql/spelling.hpp"
#include "mysql/values.hpp"

namespace soci {
class session;
}

struct st_mysql;

namespace rowlock::mysql {

/// The result of a statement.
struct result_set {
  using row = std::vector<std::optional<std::string>>;

  std::vector<row> rows;
  /// Rows that an UPDATE found, or that were inserted.
  std::uint64_t affected = 0;
  /// The value of `last_insert_id(...)` in the statement.
  std::uint64_t insert_id = 0;
};

/// Sends statements on the connection of a SOCI session, through the database's own client library.
/// So an exception contains no statement, a result has row count and insert id, and no quoting is
/// needed. Members throw `soci::mysql_soci_error` with the server's error number.
///
/// Thread-safety: as the session, one thread at a time.
class connection {
 public:
  /// The session's backend must be "mysql".
  explicit connection(::soci::session& session);

  result_set execute(std::string_view sql, std::span<const bound_value> values);
  result_set execute(std::string_view sql, std::initializer_list<bound_value> values = {}) {
    return execute(sql, std::span{values.begin(), values.size()});
  }
  /// For `prepared_statements`.
  [[nodiscard]] st_mysql* handle() const noexcept { return connection_; }
  /// Executes several statements, separated by semicolons.
  void execute_script(const std::string& sql);

  /// Read from the server's last answer. After a lock wait that timed out that answer does not
  /// contain it, and a round trip is needed.
  [[nodiscard]] bool is_in_transaction() const noexcept;
  /// The same after statements of the application. No error contains it, and an earlier one that
  /// was swallowed may have ended the transaction: after any error a round trip is needed.
  [[nodiscard]] bool is_still_in_transaction() const noexcept;
  /// The same without a round trip; false after a lock wait that timed out.
  [[nodiscard]] bool shows_transaction() const noexcept;
  [[nodiscard]] bool is_in_autocommit() const noexcept;
  /// Ends the transaction, if necessary with the connection: a KILL QUERY that hits a ROLLBACK
  /// leaves the transaction open, so it is sent once more.
  void roll_back() noexcept;
  /// Loses the connection: the server rolls back.
  void disconnect() noexcept;
  /// Whether the client library would silently reconnect, and lose settings and locks.
  [[nodiscard]] bool reconnects() const noexcept;
  /// Whether the connection string names the authority that must have signed the server's
  /// certificate.
  [[nodiscard]] bool names_an_authority() const noexcept;
  [[nodiscard]] bool is_encrypted() const noexcept;
  [[nodiscard]] sql::flavour flavour() const noexcept;
  /// The server's version as it shows it: 8.0.30-Vitess.
  [[nodiscard]] std::string_view server_text() const noexcept;
  /// The server never gives it to another connection while it runs.
  [[nodiscard]] unsigned long number_at_the_server() const noexcept;
  /// The server's version as a number: 101119 for 10.11.19.
  [[nodiscard]] unsigned long server_version() const noexcept;
  /// Keeps the connection from child processes that execute another program.
  void close_on_exec() noexcept;
  /// Has the system notice a peer that is gone while the connection is idle, within a minute, as
  /// those to PostgreSQL do. No connection string can set that.
  void keep_alive() noexcept;
  /// For an idle connection: false if the server has sent anything, or closed it. No round trip.
  [[nodiscard]] bool is_alive() const noexcept;

 private:
  result_set answer();
  /// Reads what follows the first result: a block returns its own status at the end.
  void skip_results();
  [[noreturn]] void throw_last_error() const;

  st_mysql* connection_;
};

}  // namespace rowlock::mysql

#endif
