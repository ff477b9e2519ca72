// Which statement is likely to answer the next acquisition.
#ifndef ROWLOCK_POSTGRES_FORECAST_HPP
#define ROWLOCK_POSTGRES_FORECAST_HPP

#include <array>
#include <cstddef>
#include <functional>
#include <string_view>

namespace rowlock::postgres {

/// What the last acquisitions of a lock type have found. It only chooses the statement that is sent
/// first: after a wrong forecast others follow.
class forecast {
 public:
  /// The row is there and free.
  [[nodiscard]] bool is_free() const { return free_ >= enough; }
  /// There is no row.
  [[nodiscard]] bool is_missing() const { return is_missing_; }

  void found_free() {
    if (free_ < enough) ++free_;
    is_missing_ = false;
  }
  void found_missing() {
    free_ = 0;
    is_missing_ = true;
  }
  void found_other() { *this = {}; }

 private:
  static constexpr unsigned enough = 4;

  unsigned free_ = 0;  // acquisitions in a row
  bool is_missing_ = false;
};

/// The forecasts of all lock types, in fixed space: types may share one.
class forecasts {
 public:
  forecast& of(std::string_view lock_type) {
    return all_[std::hash<std::string_view>{}(lock_type) % all_.size()];
  }

 private:
  std::array<forecast, 64> all_;
};

}  // namespace rowlock::postgres

#endif
