// The values of a list request, as the statements of all databases take them.
#ifndef ROWLOCK_STORE_LIST_VALUES_HPP
#define ROWLOCK_STORE_LIST_VALUES_HPP

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "rowlock/port/requests.hpp"

namespace rowlock::detail {

/// The keys of a list stand after `after`, and their types not after `last_type`: a range of the
/// primary key. A filter by type in the WHERE clause alone would read the keys of all types.
struct list_values {
  lock_key after;
  std::string last_type;
  /// 1 or 0: rows with or without an owner; none: both.
  std::optional<std::int64_t> owned;
  /// The same, of a lease or a closed time that is not over.
  std::optional<std::int64_t> live;
};

inline list_values values_of(const list_request& request) {
  // No type has `~`, and all characters of types are before it.
  list_values values{.after = request.after.value_or(lock_key{}),
                     .last_type = request.type.value_or("~"),
                     .owned = std::nullopt,
                     .live = std::nullopt};
  if (request.type) values.after = std::max(values.after, lock_key{*request.type, ""});
  if (request.state != row_filter::any) {
    values.owned = request.state == row_filter::closed ? 0 : 1;
    values.live = request.state == row_filter::run_out ? 0 : 1;
  }
  return values;
}

/// The statement for each order of a list.
struct list_texts {
  std::string_view by_key;
  std::string_view by_age;
  std::string_view by_remaining;

  [[nodiscard]] constexpr std::string_view of(row_order order) const {
    switch (order) {
      case row_order::key:
        break;
      case row_order::age:
        return by_age;
      case row_order::remaining:
        return by_remaining;
    }
    return by_key;
  }
};

/// The limit of a list; all rows are fewer than the largest number.
inline std::int64_t limit_of(const list_request& request) {
  return request.limit ? static_cast<std::int64_t>(*request.limit)
                       : std::numeric_limits<std::int64_t>::max();
}

}  // namespace rowlock::detail

#endif
