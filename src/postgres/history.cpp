// The history on PostgreSQL.
#include "postgres/history.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "postgres/sql/history.hpp"
#include "store/history_pages.hpp"

namespace rowlock::postgres {

namespace {

bool has_history(executor& exec) {
  return exec.execute(sql::has_history).front().flag("is_recorded");
}

lock_event event_in(const result_set::row& row) {
  lock_event event{.key = {.type = row.text("lock_type"), .source_id = row.text("source_id")},
                   .at = row.text("shown_at"),
                   .what = row.text("what"),
                   .version = {row.number("version")}};
  if (!row.is_null("token")) event.token = version{row.number("token")};
  event.holder = row.text("holder");
  event.since = row.text("since");
  event.until = row.text("until");
  event.held = row.duration("held_us");
  event.reason = row.text("reason");
  event.correlation_id = row.text("correlation_id");
  return event;
}

std::vector<lock_event> events(executor& exec, std::string_view text,
                               const history_request& request) {
  const auto& before = request.before;
  const auto text_of_cursor = [&](std::string lock_event::*field) {
    return before ? std::optional{(*before).*field} : std::nullopt;
  };
  const auto at = text_of_cursor(&lock_event::at);
  const auto what = text_of_cursor(&lock_event::what);
  const auto type = before ? std::optional{before->key.type} : std::nullopt;
  const auto source = before ? std::optional{before->key.source_id} : std::nullopt;
  const auto version = before ? std::optional{before->version.number} : std::nullopt;
  std::vector<lock_event> found;
  const auto result = exec.execute(
      text, bound_values{detail::since_of(request), detail::until_of(request), request.type,
                         request.source_id, request.holder, request.what, at, type, source, version,
                         what, static_cast<std::int64_t>(request.at_most)});
  for (const auto row : result) found.push_back(event_in(row));
  return found;
}

}  // namespace

history_page history(executor& exec, const history_request& request) {
  if (!has_history(exec)) return {};
  return detail::page_of(request, sql::history_texts,
                         [&](std::string_view text) { return events(exec, text, request); });
}

std::size_t purge_history(executor& exec, const history_purge_request& request) {
  if (!has_history(exec)) return 0;
  const bound_values values{std::int64_t{request.older_than.count()},
                            static_cast<std::int64_t>(request.at_most)};
  const auto result = exec.execute_writing(sql::purge_history, values, [](const result_set& given) {
    return given.front().number("purged") > 0;
  });
  return static_cast<std::size_t>(result.front().number("purged"));
}

}  // namespace rowlock::postgres
