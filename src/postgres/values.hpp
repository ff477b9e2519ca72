// Bound values in, result rows out.
#ifndef ROWLOCK_POSTGRES_VALUES_HPP
#define ROWLOCK_POSTGRES_VALUES_HPP

#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rowlock/lock_key.hpp"
#include "rowlock/port/store.hpp"
#include "store/key_list.hpp"
#include "store/refusal_of.hpp"

namespace rowlock::postgres {

/// The result of a statement, in the driver's own memory. Rows and columns are counted from 0.
class driver_result {
 public:
  driver_result() = default;
  driver_result(const driver_result&) = delete;
  driver_result& operator=(const driver_result&) = delete;
  virtual ~driver_result() = default;

  [[nodiscard]] virtual std::size_t rows() const = 0;
  [[nodiscard]] virtual std::size_t columns() const = 0;
  [[nodiscard]] virtual std::string_view name(std::size_t column) const = 0;
  /// None for null.
  [[nodiscard]] virtual std::optional<std::string_view> cell(std::size_t row,
                                                             std::size_t column) const = 0;
  [[nodiscard]] virtual std::size_t affected_rows() const = 0;
};

/// Throws `error` (rejected): a result has more than one row for a request.
[[noreturn]] void throw_two_rows_of_a_key();

/// The rows of a result as PostgreSQL's text, and the number of changed rows.
class result_set {
 public:
  /// One row, valid as long as its result. Members throw `error` (rejected) for a missing column
  /// and for a text that is not of the requested type.
  class row {
   public:
    row(const result_set& of, std::size_t index) : of_{of}, index_{index} {}

    [[nodiscard]] bool is_null(std::string_view column) const { return !cell(column); }
    /// Empty for null.
    [[nodiscard]] std::string text(std::string_view column) const;
    [[nodiscard]] std::int64_t number(std::string_view column) const;
    [[nodiscard]] bool flag(std::string_view column) const;
    /// The index of the request that the row answers, from 0.
    [[nodiscard]] std::size_t place() const;

   private:
    [[nodiscard]] std::optional<std::string_view> cell(std::string_view column) const;

    const result_set& of_;
    std::size_t index_;
  };

  class iterator {
   public:
    iterator(const result_set& of, std::size_t index) : of_{&of}, index_{index} {}

    row operator*() const { return {*of_, index_}; }
    iterator& operator++() {
      ++index_;
      return *this;
    }
    bool operator==(const iterator&) const = default;

   private:
    const result_set* of_;
    std::size_t index_;
  };

  explicit result_set(std::unique_ptr<const driver_result> kept) : kept_{std::move(kept)} {}

  [[nodiscard]] std::size_t size() const { return kept_->rows(); }
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] std::size_t affected_rows() const { return kept_->affected_rows(); }

  [[nodiscard]] iterator begin() const { return {*this, 0}; }
  [[nodiscard]] iterator end() const { return {*this, size()}; }
  /// Throws `error` (rejected) if there is no row.
  [[nodiscard]] row front() const;

 private:
  std::unique_ptr<const driver_result> kept_;
};

/// A text that is null if it is empty. It must outlive the values.
struct text_or_null {
  const std::string& text;
};

/// The values of $1, $2 ..., as text. The server knows their types. Keeps the strings that it is
/// given as temporaries, and refers to all others.
class bound_values {
 public:
  /// The largest number of parameters of a statement.
  static constexpr std::size_t most = 12;

  template <class... Values>
  explicit bound_values(Values&&... values) {
    static_assert(sizeof...(values) <= most);
    (add(std::forward<Values>(values)), ...);
  }
  bound_values(const bound_values&) = delete;
  bound_values& operator=(const bound_values&) = delete;

  /// At most `most` in all.
  template <class Value>
  void append(Value&& value) {
    add(std::forward<Value>(value));
  }

  /// In order; a null pointer is a null.
  [[nodiscard]] std::span<const char* const> texts() const noexcept {
    return std::span{texts_}.first(size_);
  }

 private:
  static constexpr std::size_t most_digits = 20;  // of an int64_t, with its sign

  void add(const std::string& text) { texts_.at(size_++) = text.c_str(); }
  void add(std::string&& text) {
    auto& kept = kept_.at(size_);
    kept = std::move(text);
    texts_.at(size_++) = kept.c_str();
  }
  void add(const std::string&& text) = delete;
  void add(text_or_null value) {
    texts_.at(size_++) = value.text.empty() ? nullptr : value.text.c_str();
  }
  void add(const char* text) = delete;  // it would be a bool
  void add(std::int64_t number) {
    auto& digits = digits_.at(size_);
    *std::to_chars(digits.data(), digits.data() + most_digits, number).ptr = '\0';
    texts_.at(size_++) = digits.data();
  }
  void add(int number) { add(std::int64_t{number}); }
  void add(bool flag) { texts_.at(size_++) = flag ? "t" : "f"; }
  void add(const std::optional<std::int64_t>& number) {
    if (number) return add(*number);
    texts_.at(size_++) = nullptr;
  }

  void add(const std::optional<std::string>& text) {
    if (text) return add(*text);
    texts_.at(size_++) = nullptr;
  }

  std::size_t size_ = 0;
  std::array<const char*, most> texts_{};
  std::array<std::string, most> kept_;
  std::array<std::array<char, most_digits + 1>, most> digits_{};
};

/// An array as PostgreSQL reads it: `{"a","b\"c",NULL}`.
class array_literal {
 public:
  void add(std::string_view element);
  void add(std::int64_t element);
  void add(bool element);
  void add(const std::optional<std::int64_t>& element);

  [[nodiscard]] std::string text() const { return '{' + elements_ + '}'; }

 private:
  void separate();

  std::string elements_;
};

/// `element_of(each)` for each of `range`.
template <class Range, class Projection>
std::string array_of(const Range& range, const Projection& element_of) {
  array_literal array;
  for (const auto& each : range) array.add(element_of(each));
  return array.text();
}

using detail::key_list;
using detail::list_of;

/// Arrays, one value per key.
inline std::string types_of(const key_list& keys) {
  return array_of(keys, [](const lock_key* key) { return std::string_view{key->type}; });
}
inline std::string ids_of(const key_list& keys) {
  return array_of(keys, [](const lock_key* key) { return std::string_view{key->source_id}; });
}

using detail::seen_row;

/// Of a row with the columns {state}.
seen_row seen_in(const result_set::row& found, lock_key key);
lock_event event_in(const result_set::row& found);

}  // namespace rowlock::postgres

#endif
