// The MYSQL handle of a SOCI session, with bound values and result sets.
#ifndef ROWLOCK_MYSQL_CONNECTION_HPP
#define ROWLOCK_MYSQL_CONNECTION_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mysql/sql/spelling.hpp"

namespace rowlock::mysql {

/// A value of a statement: written into its text, or bound to a prepared one.
class bound_value {
 public:
  /// `ascii` and `json` have the characters of US-ASCII alone, so that the session's character set
  /// does not matter where they are bound.
  enum class kind { integer, null, ascii, json, utf8, bytes };

  bound_value(std::int64_t number) : number_{number} {}           // NOLINT
  bound_value(int number) : bound_value{std::int64_t{number}} {}  // NOLINT
  bound_value(const std::optional<std::int64_t>& number)          // NOLINT
      : kind_{number ? kind::integer : kind::null}, number_{number.value_or(0)} {}

  static bound_value null() { return bound_value{std::nullopt}; }
  static bound_value ascii(std::string_view text) { return {kind::ascii, text}; }
  static bound_value utf8(std::string_view text) { return {kind::utf8, text}; }
  /// Null if it is empty.
  static bound_value utf8_or_null(std::string_view text) {
    return text.empty() ? null() : utf8(text);
  }
  static bound_value bytes(std::string_view text) { return {kind::bytes, text}; }

  [[nodiscard]] kind type() const noexcept { return kind_; }
  /// Of an integer.
  [[nodiscard]] const std::int64_t& number() const noexcept { return number_; }
  /// Of all but integers and nulls.
  [[nodiscard]] const std::string& content() const noexcept { return content_; }
  /// As it is written in a statement. Texts are in hexadecimal: whatever the session's character
  /// set and way of quoting, the server gets these bytes and nothing else.
  [[nodiscard]] std::string text() const;

 private:
  friend class json_rows;
  bound_value(kind type, std::string_view content) : kind_{type}, content_{content} {}

  kind kind_ = kind::integer;
  std::int64_t number_ = 0;
  std::string content_;
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

/// `sql` with $1, $2 ... replaced by what `written` returns for 0, 1 ...
std::string with_places(std::string_view sql,
                        const std::function<std::string(std::size_t)>& written);

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
