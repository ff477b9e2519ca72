// The MYSQL handle of a SOCI session, with bound values and result sets.
#ifndef ROWLOCK_MYSQL_CONNECTION_HPP
#define ROWLOCK_MYSQL_CONNECTION_HPP

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mysql/sql/spelling.hpp"

namespace rowlock::mysql {

/// A value as it is written in a statement. Texts are in hexadecimal: whatever the session's
/// character set and quoting rules, the server gets exactly these bytes.
class bound_value {
 public:
  bound_value(std::int64_t number) : text_{std::to_string(number)} {}  // NOLINT
  bound_value(int number) : bound_value{std::int64_t{number}} {}       // NOLINT
  bound_value(const std::optional<std::int64_t>& number)               // NOLINT
      : text_{number ? std::to_string(*number) : "NULL"} {}

  static bound_value null() { return bound_value{std::string{"NULL"}}; }
  static bound_value ascii(std::string_view text);
  static bound_value utf8(std::string_view text);
  static bound_value bytes(std::string_view text);

  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  friend class json_rows;
  explicit bound_value(std::string text) : text_{std::move(text)} {}

  std::string text_;
};

/// A JSON array of arrays, for statements on several rows.
class json_rows {
 public:
  /// One array. The type of a key is written as it is, other texts in hexadecimal.
  class row {
   public:
    row& word(std::string_view text);
    row& hex(std::string_view text);
    row& number(std::int64_t value);

   private:
    friend class json_rows;
    void separate();

    std::string text_;
  };

  void add(row each) { rows_.push_back(std::move(each.text_)); }
  [[nodiscard]] std::size_t size() const noexcept { return rows_.size(); }
  [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }
  /// The rows at `places`, in that order.
  [[nodiscard]] json_rows only(const std::vector<std::size_t>& places) const;
  [[nodiscard]] bound_value value() const;

 private:
  std::vector<std::string> rows_;
};

/// `sql` with $1, $2 ... replaced.
std::string with_values(std::string_view sql, std::initializer_list<bound_value> values);

}  // namespace rowlock::mysql

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

  result_set execute(std::string_view sql, std::initializer_list<bound_value> values = {});
  /// Executes several statements, separated by semicolons.
  void execute_script(const std::string& sql);

  /// Read from the server's last answer. After a lock wait that timed out that answer does not
  /// contain it, and a round trip is needed.
  [[nodiscard]] bool is_in_transaction() const noexcept;
  /// Whether the client library would silently reconnect, and lose settings and locks.
  [[nodiscard]] bool reconnects() const noexcept;
  /// Whether the connection string names the authority that must have signed the server's
  /// certificate.
  [[nodiscard]] bool names_an_authority() const noexcept;
  [[nodiscard]] bool is_encrypted() const noexcept;
  [[nodiscard]] sql::flavour flavour() const noexcept;
  /// The server's version as a number: 101119 for 10.11.19.
  [[nodiscard]] unsigned long server_version() const noexcept;
  /// Keeps the connection from child processes that execute another program.
  void close_on_exec() noexcept;
  /// For an idle connection: false if the server has sent anything, or closed it. No round trip.
  [[nodiscard]] bool is_alive() const noexcept;

 private:
  result_set answer();
  [[noreturn]] void throw_last_error() const;

  st_mysql* connection_;
};

}  // namespace rowlock::mysql

#endif
