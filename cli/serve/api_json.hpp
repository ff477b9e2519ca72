// JSON of the page: see cli/web/README.md.
#ifndef ROWLOCK_CLI_SERVE_API_JSON_HPP
#define ROWLOCK_CLI_SERVE_API_JSON_HPP

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "rowlock/port/store.hpp"

namespace rowlock::cli {

/// The answer of `api/locks`: `at`, `truncated`, `locks`. Of more rows than `limit` it has the
/// first ones.
std::string locks_json(std::span<const row_state> rows, database_time at, std::size_t limit);

/// The most events of one answer of `api/history`.
inline constexpr std::size_t longest_history = 5000;
/// The most events of a report: the page shows no more.
inline constexpr std::size_t longest_report = 200'000;

/// Where to go on after an event: a text that `event_at` reads. Of the event it has what the order
/// of events needs.
std::string cursor_of(const lock_event& last);
/// None for a text that no `cursor_of` made.
std::optional<lock_event> event_at(std::string_view cursor);

/// The answer of `api/history`, see cli/web/README.md: `at`, `has_history`, `next`, `events`. Reads
/// pages of the request until there are `limit` events: one, if that is the length of its page.
/// Throws `error`. Six round trips a page at most.
std::string read_history(store& rows, const history_request& request, std::size_t limit);

}  // namespace rowlock::cli

#endif
