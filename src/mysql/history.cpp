// The history on MariaDB and MySQL.
#include "mysql/history.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mysql/sql/history.hpp"
#include "mysql/sql/session.hpp"
#include "rowlock/error.hpp"
#include "store/history_pages.hpp"

namespace rowlock::mysql {

namespace {

/// By the name of its table; its triggers are shown to few users.
bool has_history(executor& exec, const table_name& table) {
  const auto& name = table.text();
  const auto dot = name.find('.');
  const auto database =
      dot == std::string::npos ? bound_value::null() : bound_value::utf8(name.substr(0, dot));
  const auto plain = bound_value::utf8(name.substr(dot == std::string::npos ? 0 : dot + 1));
  return exec.execute(sql::parts_of_history, {database, plain}).rows.at(0).at(0) == "1";
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
  if (row.at(9)) event.held = std::chrono::microseconds{number(9)};
  event.reason = row.at(10).value_or("");
  event.correlation_id = row.at(11).value_or("");
  return event;
}

std::vector<lock_event> events(executor& exec, std::string_view text,
                               const history_request& request) {
  const auto ascii = [](const std::optional<std::string>& value) {
    return value ? bound_value::ascii(*value) : bound_value::null();
  };
  const auto bytes = [](const std::optional<std::string>& value) {
    return value ? bound_value::bytes(*value) : bound_value::null();
  };
  const auto& before = request.before;
  const auto holder = request.holder ? bound_value::utf8(*request.holder) : bound_value::null();
  const auto result =
      exec.execute(text, {detail::since_of(request), detail::until_of(request), ascii(request.type),
                          bytes(request.source_id), holder, ascii(request.what),
                          before ? bound_value::ascii(before->at) : bound_value::null(),
                          before ? bound_value::ascii(before->key.type) : bound_value::null(),
                          before ? bound_value::bytes(before->key.source_id) : bound_value::null(),
                          before ? std::optional{before->version.number} : std::nullopt,
                          before ? bound_value::ascii(before->what) : bound_value::null(),
                          static_cast<std::int64_t>(request.at_most)});
  std::vector<lock_event> found;
  found.reserve(result.rows.size());
  for (const auto& row : result.rows) found.push_back(event_in(row));
  return found;
}

}  // namespace

history_page history(executor& exec, const table_name& table, const history_request& request) {
  if (!has_history(exec, table)) return {};
  return detail::page_of(request, sql::history_texts,
                         [&](std::string_view text) { return events(exec, text, request); });
}

std::size_t purge_history(executor& exec, const table_name& table,
                          const history_purge_request& request) {
  if (!has_history(exec, table)) return 0;
  const auto result = exec.write(
      sql::purge_history, {request.older_than.count(), static_cast<std::int64_t>(request.at_most)});
  if (!result) {
    throw error{
        errc::unavailable,
        "another transaction has events of the history locked: end it, or purge again later"};
  }
  return static_cast<std::size_t>(result->affected);
}

}  // namespace rowlock::mysql
