// The history on MariaDB and MySQL.
#include "mysql/history.hpp"

#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mysql/errors.hpp"
#include "mysql/sql/history.hpp"
#include "rowlock/error.hpp"
#include "store/history_pages.hpp"

namespace rowlock::mysql {

namespace {

/// Throws where there is a table that this user may not read.
bool has_history(executor& exec) {
  try {
    (void)exec.execute(sql::some_event);
    return true;
  } catch (const std::exception& thrown) {
    constexpr unsigned no_such_table = 1146;
    if (error_number_of(thrown) != no_such_table) throw;
    return false;
  }
}

lock_event event_in(const result_set::row& row) {
  const auto number = [&](std::size_t column) { return std::stoll(row.at(column).value()); };
  lock_event event{
      .key = {.type = row.at(1).value(), .source_id = row.at(2).value()},
      .at = row.at(0).value(),
      .what = row.at(3).value(),
      .version = {number(4)},
  };
  if (row.at(5)) event.token = version{number(5)};
  event.holder = row.at(6).value_or("");
  event.since = row.at(7).value_or("");
  event.until = row.at(8).value_or("");
  if (row.at(9)) event.held_for = std::chrono::microseconds{number(9)};
  event.reason = row.at(10).value_or("");
  event.correlation_id = row.at(11).value_or("");
  return event;
}

result_set found_by(executor& exec, std::string_view text, const history_request& request,
                    std::int64_t limit) {
  const auto ascii = [](const std::optional<std::string>& value) {
    return value ? bound_value::ascii(*value) : bound_value::null();
  };
  const auto bytes = [](const std::optional<std::string>& value) {
    return value ? bound_value::bytes(*value) : bound_value::null();
  };
  const auto& before = request.before;
  const auto holder = request.holder ? bound_value::utf8(*request.holder) : bound_value::null();
  return exec.execute(text,
                      {detail::since_of(request), detail::until_of(request), ascii(request.type),
                       bytes(request.source_id), holder, ascii(request.what),
                       before ? bound_value::ascii(before->at) : bound_value::null(),
                       before ? bound_value::ascii(before->key.type) : bound_value::null(),
                       before ? bound_value::bytes(before->key.source_id) : bound_value::null(),
                       before ? std::optional{before->version.number} : std::nullopt,
                       before ? bound_value::ascii(before->what) : bound_value::null(), limit});
}

std::vector<lock_event> events(executor& exec, std::string_view last, std::string_view text,
                               history_request request) {
  const auto limit = static_cast<std::int64_t>(request.limit);
  if (const auto time = found_by(exec, last, request, limit - 1); !time.rows.empty()) {
    request.since =
        database_time{std::chrono::microseconds{std::stoll(time.rows.front().at(0).value())}};
  }
  const auto result = found_by(exec, text, request, limit);
  std::vector<lock_event> found;
  found.reserve(result.rows.size());
  for (const auto& row : result.rows) found.push_back(event_in(row));
  return found;
}

}  // namespace

history_page history(executor& exec, const history_request& request) {
  if (!has_history(exec)) return {};
  return detail::page_of(request, [&](auto which) {
    return events(exec, sql::last_of_page.*which, sql::history_texts.*which, request);
  });
}

std::size_t purge_history(executor& exec, const history_purge_request& request) {
  if (!has_history(exec)) return 0;
  const auto result = exec.write(
      sql::purge_history, {request.older_than.count(), static_cast<std::int64_t>(request.limit)});
  if (!result) {
    throw error{
        errc::unavailable,
        "another transaction has events of the history locked: end it, or purge again later"};
  }
  return static_cast<std::size_t>(result->affected);
}

}  // namespace rowlock::mysql
