// What operators see: the server, the rights of a role there, and the history.
#include "postgres/inspecting.hpp"

#include <cstdint>
#include <string_view>

#include "base/database_time.hpp"
#include "postgres/sql/history.hpp"
#include "postgres/sql/session.hpp"
#include "store/history_pages.hpp"

namespace rowlock::postgres {

namespace {

inspection::use use_of(std::string_view name) {
  if (name == "fence") return inspection::use::fence;
  if (name == "list") return inspection::use::list;
  if (name == "purge") return inspection::use::purge;
  return name == "record" ? inspection::use::record : inspection::use::lock;
}

}  // namespace

std::vector<int> version_of(executor& exec) {
  const auto number = exec.execute(sql::server_version).front().number("number");
  constexpr int major = 10'000;  // 150018 is 15.18
  return {static_cast<int>(number / major), static_cast<int>(number % major)};
}

std::optional<std::vector<inspection::missing_right>> missing_rights(executor& exec) {
  const auto needed = exec.execute(sql::needed_rights);
  if (needed.front().is_null("is_there")) return std::nullopt;
  std::vector<inspection::missing_right> missing;
  for (const auto row : needed) {
    if (row.is_null("is_there") || row.flag("is_there")) continue;
    missing.push_back({use_of(row.text("used_for")), row.text("wanted")});
  }
  return missing;
}

std::optional<int> connection_limit(executor& exec) {
  const auto found = exec.execute(sql::connection_limit);
  if (found.empty() || found.front().is_null("number")) return std::nullopt;
  return static_cast<int>(found.front().number("number"));
}

namespace {

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

}  // namespace

history_page history(executor& exec, const history_request& request) {
  const auto state = exec.execute(sql::history_state);
  if (!state.front().flag("has_table")) return {};
  const auto find = [&](const auto&... given) { return found_by(exec, given...); };
  auto page = detail::page_by_time(
      request, find, [](const result_set::row& row) { return row.number("us"); }, event_in);
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
