// The session's MYSQL handle: values in, answers out.
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
/// character set and way of quoting, the server gets these bytes and nothing else.
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

/// A JSON array of arrays, for the statements on several rows.
class json_rows {
 public:
  /// One array: the type of a key as it is, the other texts in hexadecimal.
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
  /// Those at `places`, in that order.
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

/// What a statement answered.
struct result_set {
  using row = std::vector<std::optional<std::string>>;

  std::vector<row> rows;
  /// Rows that were found by an UPDATE, or inserted.
  std::uint64_t affected = 0;
  /// What `last_insert_id(...)` in the statement was given.
  std::uint64_t insert_id = 0;
};

/// Sends statements on the connection of a SOCI session by the client library of the database
/// itself: so an exception holds no statement, the answer brings row count and insert id along, and
/// no quoting is needed. Members throw `soci::mysql_soci_error` with the server's error number.
///
/// Thread-safety: as the session, one thread at a time.
class connection {
 public:
  /// The session's backend is "mysql".
  explicit connection(::soci::session& session);

  result_set execute(std::string_view sql, std::initializer_list<bound_value> values = {});
  /// Several statements, separated by semicolons.
  void execute_script(const std::string& sql);

  /// Seen in the last answer of the server. After a lock wait that timed out, where the answer does
  /// not tell it, the server is asked.
  [[nodiscard]] bool is_in_transaction() const noexcept;
  /// Whether the client library would silently connect anew, and lose settings and locks.
  [[nodiscard]] bool reconnects() const noexcept;
  /// Whether the connection string names the authority that must have signed the certificate.
  [[nodiscard]] bool names_an_authority() const noexcept;
  [[nodiscard]] bool is_encrypted() const noexcept;
  [[nodiscard]] sql::flavour flavour() const noexcept;
  /// As a number: 101119 for 10.11.19.
  [[nodiscard]] unsigned long server_version() const noexcept;
  /// Processes that are started do not get the connection.
  void close_on_exec() noexcept;
  /// Whether nothing has come from the server that we did not ask for. No round trip.
  [[nodiscard]] bool is_alive() const noexcept;

 private:
  result_set answer();
  [[noreturn]] void throw_last_error() const;

  st_mysql* connection_;
};

}  // namespace rowlock::mysql

#endif
