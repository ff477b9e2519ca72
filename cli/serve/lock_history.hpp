// The history of locks, as the page reads it.
#ifndef ROWLOCK_CLI_SERVE_LOCK_HISTORY_HPP
#define ROWLOCK_CLI_SERVE_LOCK_HISTORY_HPP

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "rowlock/port/store.hpp"

namespace rowlock::cli {

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
/// pages of the request until there are `at_most` events: one, if that is the length of its page.
/// Throws `error`. Six round trips a page at most.
std::string read_history(store& rows, const history_request& request, std::size_t at_most);

}  // namespace rowlock::cli

#endif
