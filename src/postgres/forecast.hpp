// Which statement is likely to answer the next acquisition.
#ifndef ROWLOCK_POSTGRES_FORECAST_HPP
#define ROWLOCK_POSTGRES_FORECAST_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <string_view>

namespace rowlock::postgres {

/// What the last acquisitions of a lock type have found. It only chooses the statement that is sent
/// first: after a wrong forecast others follow.
class forecast {
 public:
  /// What an acquisition found: a row that was free, one that another owner held, none, or what is
  /// none of these.
  enum class finding { free, held, missing, other };

  void found(finding what) {
    times_ = what == last_ ? std::min(times_ + 1, enough) : 1;
    last_ = what;
  }

  /// The row is there and free.
  [[nodiscard]] bool is_free() const { return last_ == finding::free && times_ == enough; }
  /// Another owner holds the row.
  [[nodiscard]] bool is_held() const { return last_ == finding::held && times_ == enough; }
  /// There is no row.
  [[nodiscard]] bool is_missing() const { return last_ == finding::missing; }

 private:
  static constexpr unsigned enough = 4;

  finding last_ = finding::other;
  unsigned times_ = 0;  // in a row
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
