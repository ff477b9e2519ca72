// The values of statements: bound values, and lists of rows.
#ifndef ROWLOCK_MYSQL_VALUES_HPP
#define ROWLOCK_MYSQL_VALUES_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

#endif
