// The history of locks, as the page reads it.
#include "cli/serve/lock_history.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/database_time.hpp"
#include "cli/database_time.hpp"
#include "cli/serve/api_json.hpp"
#include "cli/shown_row.hpp"
#include "rowlock/error.hpp"

namespace rowlock::cli {

using nlohmann::ordered_json;

std::string cursor_of(const lock_event& last) {
  return compact_json(ordered_json::array(
      {last.at, last.key.type, last.key.source_id, last.version.number, last.what}));
}

std::optional<lock_event> event_at(std::string_view cursor) {
  constexpr std::size_t longest = 2048;
  if (cursor.size() > longest) return {};
  const auto parts = ordered_json::parse(cursor, nullptr, false);
  if (!parts.is_array() || parts.size() != 5) return {};
  for (const std::size_t text : {0, 1, 2, 4}) {
    if (!parts[text].is_string()) return {};
  }
  if (!parts[3].is_number_integer()) return {};
  const auto time = parse_database_time(parts[0].get<std::string>());
  if (!time) return {};
  try {
    check(lock_key{.type = parts[1], .source_id = parts[2]});
  } catch (const error&) {
    return {};
  }
  return lock_event{.key = {.type = parts[1], .source_id = parts[2]},
                    .at = detail::text_of(*time),
                    .what = parts[4],
                    .version = {parts[3].get<std::int64_t>()}};
}

ordered_json read_history(store& rows, history_request request) {
  const auto at = rows.now();
  const auto limit = request.at_most;
  // One event more says that there is another page.
  ++request.at_most;
  auto page = rows.history(request);
  ordered_json next = nullptr;
  if (page.events.size() > limit) {
    page.events.resize(limit);
    next = cursor_of(page.events.back());
  }
  auto events = ordered_json::array();
  for (const auto& event : page.events) events.push_back(json_of(event));
  return {{"at", to_rfc3339(at)},
          {"has_history", page.is_recorded},
          {"next", std::move(next)},
          {"events", std::move(events)}};
}

ordered_json read_whole_history(store& rows, database_time since) {
  constexpr std::size_t most = 200'000;
  history_request request{.since = since, .at_most = longest_history};
  ordered_json all = read_history(rows, request);
  while (!all["next"].is_null() && all["events"].size() < most) {
    request.before = event_at(all["next"].get<std::string>());
    ordered_json page = read_history(rows, request);
    for (auto& event : page["events"]) all["events"].push_back(std::move(event));
    all["next"] = std::move(page["next"]);
  }
  return all;
}

}  // namespace rowlock::cli
