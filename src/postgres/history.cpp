// The history on PostgreSQL.
#include "postgres/history.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/database_time.hpp"
#include "postgres/sql/history.hpp"
#include "postgres/sql/session.hpp"
#include "store/history_pages.hpp"

namespace rowlock::postgres {

namespace {

lock_event event_in(const result_set::row& row) {
  lock_event event{.key = {.type = row.text("lock_type"), .source_id = row.text("source_id")},
                   .at = row.text("shown_at"),
                   .what = row.text("what"),
                   .version = {row.number("version")}};
  if (!row.is_null("token")) event.token = version{row.number("token")};
  event.holder = row.text("holder");
  event.since = row.text("since");
  event.until = row.text("until");
  event.held_for = row.duration("held_us");
  event.reason = row.text("reason");
  event.correlation_id = row.text("correlation_id");
  return event;
}

result_set found_by(executor& exec, std::string_view text, const history_request& request,
                    std::int64_t limit) {
  // Behind every event: the last moment, and a text that is greater than any type.
  const lock_event end{.key = {"\U0010FFFF", ""},
                       .at = detail::text_of(detail::last_database_time),
                       .what = {},
                       .version = {}};
  const auto& before = request.before ? *request.before : end;
  return exec.execute(
      text,
      bound_values{detail::since_of(request), detail::until_of(request), request.type,
                   request.source_id, request.holder, request.what, before.at, before.key.type,
                   before.key.source_id, before.version.number, before.what, limit});
}

std::vector<lock_event> events(executor& exec, std::string_view last, std::string_view text,
                               history_request request) {
  const auto limit = static_cast<std::int64_t>(request.limit);
  if (const auto time = found_by(exec, last, request, limit - 1); !time.empty()) {
    request.since = database_time{std::chrono::microseconds{time.front().number("us")}};
  }
  const auto result = found_by(exec, text, request, limit);
  std::vector<lock_event> found;
  for (const auto row : result) found.push_back(event_in(row));
  return found;
}

}  // namespace

history_page history(executor& exec, const history_request& request) {
  const auto state = exec.execute(sql::history_state);
  if (!state.front().flag("has_table")) return {};
  auto page = detail::page_of(request, [&](auto which) {
    return events(exec, sql::last_of_page.*which, sql::history_texts.*which, request);
  });
  page.is_ended = !state.front().flag("has_trigger");
  return page;
}

std::size_t purge_history(executor& exec, const history_purge_request& request) {
  if (!exec.execute(sql::history_state).front().flag("has_table")) return 0;
  const bound_values values{std::int64_t{request.older_than.count()},
                            static_cast<std::int64_t>(request.limit)};
  const auto result = exec.execute_writing(sql::purge_history, values, [](const result_set& given) {
    return given.front().number("purged") > 0;
  });
  return static_cast<std::size_t>(result.front().number("purged"));
}

}  // namespace rowlock::postgres
