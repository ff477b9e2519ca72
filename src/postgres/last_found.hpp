// What the last acquisition of a lock type found.
#ifndef ROWLOCK_POSTGRES_LAST_FOUND_HPP
#define ROWLOCK_POSTGRES_LAST_FOUND_HPP

#include <array>
#include <cstddef>
#include <functional>
#include <string_view>

namespace rowlock::postgres {

/// A row that was granted, one that another owner held, none, or what is none of these. It only
/// chooses the statement that is sent first: where it is wrong, one more follows.
enum class found_row : unsigned char { other, free, held, missing };

/// What the last acquisition of each lock type found. Types may share a place.
class last_found {
 public:
  found_row& of(std::string_view lock_type) {
    return places_[std::hash<std::string_view>{}(lock_type) % places_.size()];
  }

 private:
  std::array<found_row, 64> places_{};
};

}  // namespace rowlock::postgres

#endif
