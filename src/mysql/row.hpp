// The conversion of result rows to rows of the lock table.
#ifndef ROWLOCK_MYSQL_ROW_HPP
#define ROWLOCK_MYSQL_ROW_HPP

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mysql/connection.hpp"
#include "rowlock/outcome.hpp"
#include "rowlock/port/store.hpp"
#include "store/key_list.hpp"
#include "store/refusal_of.hpp"

namespace rowlock::mysql {

using detail::key_list;
using detail::list_of;

/// Type and id, with which all statements on several rows begin.
json_rows::row row_of(const lock_key& key);
json_rows rows_of(const key_list& keys);

/// Adds how long the row stays closed, and how long its work is remembered as done.
json_rows::row with_what_stays(json_rows::row row, const release_request& request);

using detail::busy_at;
using detail::held_by;
using detail::seen_row;
using detail::states_of;

/// The state of each key, from the result of `read`; none for a missing row.
std::vector<std::optional<seen_row>> found_in(const result_set& result, const key_list& keys);
/// The rows from the result of `list`.
std::vector<row_state> listed_in(const result_set& result);
/// From a row of a statement of the history.
lock_event event_in(const result_set::row& row);

}  // namespace rowlock::mysql

#endif
