// The history of locks, as the page reads it.
#include "cli/serve/lock_history.hpp"

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/database_time.hpp"
#include "cli/database_time.hpp"
#include "cli/serve/api_json.hpp"
#include "cli/shown_row.hpp"

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
  for (const std::size_t text : {0U, 1U, 2U, 4U}) {
    if (!parts[text].is_string()) return {};
  }
  if (!parts[3].is_number_integer()) return {};
  const auto time = parse_database_time(parts[0].get<std::string>());
  if (!time) return {};
  for (const std::size_t text : {1U, 2U, 4U}) {
    const auto& part = parts[text].get_ref<const std::string&>();
    if (part.find('\0') != std::string::npos) return {};
  }
  return lock_event{.key = {.type = parts[1], .source_id = parts[2]},
                    .at = detail::text_of(*time),
                    .what = parts[4],
                    .version = {parts[3].get<std::int64_t>()}};
}

namespace {

/// One page, and the last of its events if there are more.
struct read_page {
  std::vector<lock_event> events;
  bool is_recorded = false;
  bool has_more = false;
};

read_page read_one(store& rows, history_request request) {
  const auto limit = request.at_most;
  // One event more says that there is another page.
  ++request.at_most;
  auto page = rows.history(request);
  const bool has_more = page.events.size() > limit;
  if (has_more) page.events.resize(limit);
  return {std::move(page.events), page.is_recorded, has_more};
}

}  // namespace

std::string read_history(store& rows, const history_request& request, std::size_t at_most) {
  const auto at = rows.now();
  history_request wanted = request;
  std::string events;
  std::size_t count = 0;
  for (;;) {
    const auto page = read_one(rows, wanted);
    for (const auto& event : page.events) {
      if (!events.empty()) events += ',';
      events += compact_json(json_of(event));
    }
    count += page.events.size();
    const bool is_last = !page.has_more || count >= at_most;
    if (!is_last) {
      wanted.before = page.events.back();
      continue;
    }
    const ordered_json next =
        page.has_more ? ordered_json(cursor_of(page.events.back())) : ordered_json(nullptr);
    return R"({"at":")" + to_rfc3339(at) + R"(","has_history":)" +
           (page.is_recorded ? "true" : "false") + R"(,"next":)" + compact_json(next) +
           R"(,"events":[)" + events + "]}";
  }
}

}  // namespace rowlock::cli
