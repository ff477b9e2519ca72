// Rows of the lock table, as MariaDB and MySQL answer them.
#ifndef ROWLOCK_MYSQL_ROW_HPP
#define ROWLOCK_MYSQL_ROW_HPP

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mysql/connection.hpp"
#include "rowlock/outcome.hpp"
#include "rowlock/port/store.hpp"
#include "store/refusal_of.hpp"

namespace rowlock::mysql {

/// Keys of requests that others own.
using key_list = std::vector<const lock_key*>;

key_list list_of(std::span<const lock_key> keys);

/// Type and id, as all statements on several rows begin.
json_rows::row row_of(const lock_key& key);
json_rows rows_of(const key_list& keys);

/// `row`, and for how long the row stays closed and its work remembered as done.
json_rows::row with_what_stays(json_rows::row row, const release_request& request);

using detail::busy_at;
using detail::held_by;
using detail::seen_row;
using detail::states_of;

/// The state of each key, from the answer to a look; none for a missing row.
std::vector<std::optional<seen_row>> found_in(const result_set& result, const key_list& keys);
/// From the answer to `list`.
std::vector<row_state> listed_in(const result_set& result);

}  // namespace rowlock::mysql

#endif
