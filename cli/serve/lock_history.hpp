// The history of locks, as the page reads it.
#ifndef ROWLOCK_CLI_SERVE_LOCK_HISTORY_HPP
#define ROWLOCK_CLI_SERVE_LOCK_HISTORY_HPP

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "rowlock/port/store.hpp"

namespace rowlock::cli {

/// The most events of one answer.
inline constexpr std::size_t longest_history = 5000;

/// Where to go on after an event: a text that `event_at` reads. Of the event it has what the order
/// of events needs.
std::string cursor_of(const lock_event& last);
/// None for a text that no `cursor_of` made.
std::optional<lock_event> event_at(std::string_view cursor);

/// The answer of `api/history`, see cli/web/README.md: `at`, `has_history`, `next`, `events`.
/// Throws `error`. Five round trips at most.
nlohmann::ordered_json read_history(store& rows, history_request request);

/// All pages since then in one answer, for a report. At most 200,000 events: the page shows no
/// more. `next` says where it stopped.
nlohmann::ordered_json read_whole_history(store& rows, database_time since);

}  // namespace rowlock::cli

#endif
