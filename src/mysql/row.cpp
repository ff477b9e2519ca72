// The conversion of result rows to rows of the lock table.
#include "mysql/row.hpp"

#include <utility>

namespace rowlock::mysql {

namespace {

using std::chrono::microseconds;

std::int64_t number(const std::optional<std::string>& column) { return std::stoll(column.value()); }

std::optional<microseconds> duration(const std::optional<std::string>& column) {
  if (!column) return std::nullopt;
  return microseconds{number(column)};
}

/// The columns from `first` on: version, owner, holder, acquired_at, remaining_us, failure_count,
/// expiry_count, done_by, done_at, done_remaining_us, note, force_reason, forced_at, forced_from,
/// since_us, ttl_us, correlation_id, ended_at, ended_as, lasted_us.
seen_row found_from(const result_set::row& row, std::size_t first, lock_key key) {
  seen_row found{.state = {.key = std::move(key), .version = {number(row.at(first))}},
                 .owner = row.at(first + 1).value_or(""),
                 .left = microseconds{number(row.at(first + 4))}};
  auto& state = found.state;
  state.owned = row.at(first + 1).has_value();
  if (state.owned) {
    state.acquired_at = row.at(first + 3).value_or("");
    state.held_for = duration(row.at(first + 14));
    state.ttl = duration(row.at(first + 15));
    state.correlation_id = row.at(first + 16).value_or("");
  } else if (row.at(first + 17)) {
    state.last = last_use{.holder = row.at(first + 2).value_or(""),
                          .from = row.at(first + 3).value_or(""),
                          .until = *row.at(first + 17),
                          .how = row.at(first + 18).value_or(""),
                          .held_for = duration(row.at(first + 19))};
  }
  if (state.owned || found.left > microseconds::zero()) {
    state.holder = row.at(first + 2).value_or("");
    state.remaining = found.left;
  }
  state.failure_count = number(row.at(first + 5));
  state.expiry_count = number(row.at(first + 6));
  const microseconds done_for{number(row.at(first + 9))};
  if (done_for > microseconds::zero()) {
    state.done = done_mark{version{number(row.at(first + 7))}, row.at(first + 8).value(), done_for};
  }
  state.note = row.at(first + 10).value_or("");
  state.force_reason = row.at(first + 11).value_or("");
  state.forced_at = row.at(first + 12).value_or("");
  state.forced_from = row.at(first + 13).value_or("");
  return found;
}

}  // namespace

key_list list_of(std::span<const lock_key> keys) {
  key_list pointers;
  pointers.reserve(keys.size());
  for (const auto& key : keys) pointers.push_back(&key);
  return pointers;
}

json_rows::row row_of(const lock_key& key) {
  json_rows::row row;
  row.word(key.type).hex(key.source_id);
  return row;
}

json_rows rows_of(const key_list& keys) {
  json_rows rows;
  for (const auto* key : keys) rows.add(row_of(*key));
  return rows;
}

json_rows::row with_what_stays(json_rows::row row, const release_request& request) {
  row.number(request.stay_closed.count())
      .number(request.done_for.value_or(microseconds::zero()).count());
  return row;
}

std::vector<std::optional<seen_row>> found_in(const result_set& result, const key_list& keys) {
  std::vector<std::optional<seen_row>> found(keys.size());
  for (const auto& row : result.rows) {
    const auto place = static_cast<std::size_t>(number(row.at(0))) - 1;
    if (row.at(1)) found.at(place) = found_from(row, 1, *keys.at(place));
  }
  return found;
}

std::vector<row_state> listed_in(const result_set& result) {
  std::vector<row_state> listed;
  for (const auto& row : result.rows) {
    listed.push_back(
        found_from(row, 2, {.type = row.at(0).value(), .source_id = row.at(1).value()}).state);
  }
  return listed;
}

}  // namespace rowlock::mysql
