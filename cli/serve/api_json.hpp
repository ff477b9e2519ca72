// JSON of the page: see cli/web/README.md.
#ifndef ROWLOCK_CLI_SERVE_API_JSON_HPP
#define ROWLOCK_CLI_SERVE_API_JSON_HPP

#include <cstddef>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "rowlock/port/requests.hpp"

namespace rowlock::cli {

/// Which locks, and how many.
struct lock_filter {
  static constexpr std::size_t most = 5000;

  std::optional<std::string> type = std::nullopt;
  std::optional<std::string> holder = std::nullopt;
  std::size_t limit = 1000;
};

/// One of the `locks`, as `compact_json` writes it.
std::string lock_json(const row_state& row);

/// The answer of `api/locks`: `at`, `truncated`, `locks`. `lock_json_of` returns that of the row
/// with this index.
std::string locks_json(std::span<const row_state> rows, const std::string& at,
                       const lock_filter& filter,
                       const std::function<std::string_view(std::size_t)>& lock_json_of);

/// In ASCII, on one line. Bytes that are not UTF-8 become U+FFFD.
std::string compact_json(const nlohmann::ordered_json& shown);

}  // namespace rowlock::cli

#endif
