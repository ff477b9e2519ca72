// JSON of the page: see cli/web/README.md.
#ifndef ROWLOCK_CLI_SERVE_API_JSON_HPP
#define ROWLOCK_CLI_SERVE_API_JSON_HPP

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "rowlock/port/requests.hpp"

namespace rowlock::cli {

/// The answer of `api/locks`: `at`, `truncated`, `locks`. Of more rows than `limit` it has the
/// first ones.
std::string locks_json(std::span<const row_state> rows, database_time at, std::size_t limit);

/// In ASCII, on one line. Bytes that are not UTF-8 become U+FFFD.
std::string compact_json(const nlohmann::ordered_json& shown);

}  // namespace rowlock::cli

#endif
