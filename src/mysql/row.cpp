// The conversion of result rows to rows of the lock table.
#include "mysql/row.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "store/found_columns.hpp"

namespace rowlock::mysql {

namespace {

using std::chrono::microseconds;

/// Cells by the names of their columns, the first of which is at `first`.
struct named_cells {
  [[nodiscard]] bool is_null(std::string_view column) const { return !at(column); }
  [[nodiscard]] std::string text(std::string_view column) const { return at(column).value_or(""); }
  [[nodiscard]] std::int64_t number(std::string_view column) const {
    return std::stoll(at(column).value());
  }
  [[nodiscard]] const std::optional<std::string>& at(std::string_view column) const {
    return row.at(first + detail::place_of(column, columns));
  }

  const result_set::row& row;
  std::span<const std::string_view> columns;
  std::size_t first = 0;
};

}  // namespace

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
    const auto place = std::stoull(row.at(0).value()) - 1;
    if (row.at(1))
      found.at(place) = detail::row_from(named_cells{row, detail::row_columns, 1}, *keys.at(place));
  }
  return found;
}

std::vector<row_state> listed_in(const result_set& result) {
  std::vector<row_state> listed;
  for (const auto& row : result.rows) {
    const lock_key key{.type = row.at(0).value(), .source_id = row.at(1).value()};
    listed.push_back(detail::row_from(named_cells{row, detail::row_columns, 2}, key).state);
  }
  return listed;
}

lock_event event_in(const result_set::row& row) {
  return detail::event_from(named_cells{row, detail::event_columns});
}

}  // namespace rowlock::mysql
