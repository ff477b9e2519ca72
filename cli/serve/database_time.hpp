// Points in time of the database's clock.
#ifndef ROWLOCK_CLI_SERVE_DATABASE_TIME_HPP
#define ROWLOCK_CLI_SERVE_DATABASE_TIME_HPP

#include <chrono>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "rowlock/port/requests.hpp"

namespace rowlock::cli {

using database_time = std::chrono::sys_time<std::chrono::microseconds>;

/// Reads `2026-01-31 12:00:00.000000` as well as RFC 3339 in UTC, with 0 to 6 digits after the
/// second. None for any other text.
std::optional<database_time> parse_database_time(std::string_view text);

/// `2026-01-31T12:00:00.000000Z`.
std::string to_rfc3339(database_time shown);

/// The database's time as far as rows show it: a row that is held shows when it was granted, and
/// how long ago that was. Until the first such row this is the clock of this machine. Only for
/// display: no lock depends on it.
///
/// Thread-safety: all members may be called from any thread.
class database_clock {
 public:
  /// Call it as soon as `rows` are read.
  void learn(std::span<const row_state> rows);
  [[nodiscard]] database_time now() const;

 private:
  mutable std::mutex mutex_;
  std::chrono::microseconds ahead_{};  // of the clock of this machine
};

}  // namespace rowlock::cli

#endif
