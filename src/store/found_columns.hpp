// A row of the lock table and an event of its history, from the columns that statements return.
#ifndef ROWLOCK_STORE_FOUND_COLUMNS_HPP
#define ROWLOCK_STORE_FOUND_COLUMNS_HPP

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "rowlock/port/requests.hpp"
#include "store/refusal_of.hpp"

namespace rowlock::detail {

/// The columns of a row, by the names and in the order in which statements return them.
inline constexpr std::array<std::string_view, 24> row_columns{
    "version",       "owner",          "holder",    "acquired_at", "remaining_us",
    "failure_count", "expiry_count",   "done_by",   "done_at",     "done_left_us",
    "note",          "force_reason",   "forced_at", "forced_from", "since_us",
    "ttl_us",        "correlation_id", "ended_at",  "ended_as",    "lasted_us",
    "asked_version", "asked_at",       "asked_by",  "ask_reason"};

/// Those of them that are computed. The table has all others, and is checked for them.
inline constexpr std::array<std::string_view, 4> computed_columns{"remaining_us", "done_left_us",
                                                                  "since_us", "lasted_us"};

/// The columns of an event, in the same way.
inline constexpr std::array<std::string_view, 12> event_columns{
    "shown_at", "lock_type", "source_id", "what",    "version", "token",
    "holder",   "since",     "until",     "held_us", "reason",  "correlation_id"};

inline bool is_computed(std::string_view column) {
  return std::ranges::find(computed_columns, column) != computed_columns.end();
}

inline std::size_t place_of(std::string_view column, std::span<const std::string_view> columns) {
  return static_cast<std::size_t>(std::ranges::find(columns, column) - columns.begin());
}

template <class Cells>
std::optional<std::chrono::microseconds> duration_in(const Cells& cells, std::string_view column) {
  if (cells.is_null(column)) return std::nullopt;
  return std::chrono::microseconds{cells.number(column)};
}

/// `cells` has the members `is_null`, `text` (empty for null) and `number` of a column.
template <class Cells>
seen_row row_from(const Cells& cells, lock_key key) {
  using std::chrono::microseconds;
  seen_row found{.state = {.key = std::move(key),
                           .version = {cells.number("version")},
                           .owned = !cells.is_null("owner")},
                 .owner = cells.text("owner"),
                 .left = microseconds{cells.number("remaining_us")}};
  auto& state = found.state;
  if (state.owned) {
    state.acquired_at = cells.text("acquired_at");
    state.held_for = duration_in(cells, "since_us");
    state.ttl = duration_in(cells, "ttl_us");
    state.correlation_id = cells.text("correlation_id");
    if (!cells.is_null("asked_version") && cells.number("asked_version") == state.version.number) {
      state.asked = ask_mark{.by = cells.text("asked_by"),
                             .reason = cells.text("ask_reason"),
                             .at = cells.text("asked_at")};
    }
  } else if (!cells.is_null("ended_at")) {
    state.last = last_use{.holder = cells.text("holder"),
                          .from = cells.text("acquired_at"),
                          .until = cells.text("ended_at"),
                          .how = cells.text("ended_as"),
                          .held_for = duration_in(cells, "lasted_us")};
  }
  if (state.owned || found.left > microseconds::zero()) {
    state.holder = cells.text("holder");
    state.remaining = found.left;
  }
  state.failure_count = cells.number("failure_count");
  state.expiry_count = cells.number("expiry_count");
  state.note = cells.text("note");
  state.force_reason = cells.text("force_reason");
  state.forced_at = cells.text("forced_at");
  state.forced_from = cells.text("forced_from");
  const microseconds remembered{cells.number("done_left_us")};
  if (remembered > microseconds::zero()) {
    // The table accepts a done mark without a grant, which a statement written by hand may leave.
    const auto by = cells.is_null("done_by") ? 0 : cells.number("done_by");
    state.done = done_mark{{by}, cells.text("done_at"), remembered};
  }
  return found;
}

template <class Cells>
lock_event event_from(const Cells& cells) {
  lock_event event{.key = {.type = cells.text("lock_type"), .source_id = cells.text("source_id")},
                   .at = cells.text("shown_at"),
                   .what = cells.text("what"),
                   .version = {cells.number("version")}};
  if (!cells.is_null("token")) event.token = version{cells.number("token")};
  event.holder = cells.text("holder");
  event.since = cells.text("since");
  event.until = cells.text("until");
  event.held_for = duration_in(cells, "held_us");
  event.reason = cells.text("reason");
  event.correlation_id = cells.text("correlation_id");
  return event;
}

}  // namespace rowlock::detail

#endif
