// Values in statements for MariaDB and MySQL.
#ifndef ROWLOCK_MYSQL_MYSQL_VALUES_HPP
#define ROWLOCK_MYSQL_MYSQL_VALUES_HPP

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::through_soci {

/// A value as it is written in a statement. Texts are in hexadecimal: whatever the session's
/// character set and way of quoting, the server gets these bytes and nothing else.
class mysql_value {
 public:
  mysql_value(std::int64_t number) : text_{std::to_string(number)} {}  // NOLINT
  mysql_value(int number) : mysql_value{std::int64_t{number}} {}       // NOLINT
  mysql_value(const std::optional<std::int64_t>& number)               // NOLINT
      : text_{number ? std::to_string(*number) : "NULL"} {}

  static mysql_value null() { return mysql_value{std::string{"NULL"}}; }
  static mysql_value ascii(std::string_view text);
  static mysql_value utf8(std::string_view text);
  static mysql_value bytes(std::string_view text);

  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  friend class json_rows;
  explicit mysql_value(std::string text) : text_{std::move(text)} {}

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
  [[nodiscard]] mysql_value value() const;

 private:
  std::vector<std::string> rows_;
};

/// `sql` with $1, $2 ... replaced.
std::string with_values(std::string_view sql, std::initializer_list<mysql_value> values);

}  // namespace rowlock::through_soci

#endif
