// The history of locks: the one place where serve and report read it.
#ifndef ROWLOCK_CLI_SERVE_LOCK_HISTORY_HPP
#define ROWLOCK_CLI_SERVE_LOCK_HISTORY_HPP

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "cli/serve/database_time.hpp"
#include "rowlock/port/store.hpp"

namespace rowlock::cli {

/// Which events; the newest come first.
struct history_query {
  /// The longest page.
  static constexpr std::size_t longest = 5000;

  /// Not older than this.
  std::optional<database_time> since = std::nullopt;
  /// With smaller numbers than this.
  std::optional<std::int64_t> before = std::nullopt;
  std::size_t limit = longest;

  /// Two queries with one text have the same answer.
  [[nodiscard]] std::string text() const;
};

/// The answer of `api/history`, see cli/web/README.md: `at`, `has_history`, `next`, `events`.
/// Throws `error`. Reads only. `clock` says `at` where no event was read.
///
/// The history of the lock table (`store::history`) is not read yet: `has_history` is false.
nlohmann::ordered_json read_history(store& rows, const history_query& query,
                                    const database_clock& clock);

/// All pages since then in one answer, for a report. At most 200,000 events: the page shows no
/// more.
nlohmann::ordered_json read_whole_history(store& rows, database_time since,
                                          const database_clock& clock);

}  // namespace rowlock::cli

#endif
