// The values that statements take, as text.
#ifndef ROWLOCK_POSTGRES_BOUND_VALUES_HPP
#define ROWLOCK_POSTGRES_BOUND_VALUES_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rowlock::postgres {

/// The values of $1, $2 ..., as text; none is null. The server knows their types.
class bound_values {
 public:
  /// No statement takes more.
  static constexpr std::size_t most = 8;

  template <class... Values>
  explicit bound_values(Values&&... values) {
    static_assert(sizeof...(values) <= most);
    values_.reserve(sizeof...(values));
    (add(std::forward<Values>(values)), ...);
  }

  [[nodiscard]] const std::vector<std::optional<std::string>>& in_order() const noexcept {
    return values_;
  }

 private:
  void add(std::string text) { values_.emplace_back(std::move(text)); }
  void add(std::int64_t number) { values_.emplace_back(std::to_string(number)); }
  void add(int number) { add(std::int64_t{number}); }
  void add(bool flag) { values_.emplace_back(flag ? "t" : "f"); }
  void add(const std::optional<std::int64_t>& number) {
    values_.push_back(number ? std::optional{std::to_string(*number)} : std::nullopt);
  }

  std::vector<std::optional<std::string>> values_;
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

}  // namespace rowlock::postgres

#endif
