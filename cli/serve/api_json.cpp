// JSON of the page: see cli/web/README.md.
#include "cli/serve/api_json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/database_time.hpp"
#include "cli/database_time.hpp"
#include "cli/shown_row.hpp"

namespace rowlock::cli {

namespace {

using nlohmann::ordered_json;

/// One of the `locks`: `json_of` as the page's contract has it.
std::string lock_json(const row_state& row) {
  ordered_json lock = json_of(row);
  for (const char* const other : {"clock_fault", "waited_for", "done", "used_by"}) {
    lock.erase(other);
  }
  lock["waiting"] = row.is_waited_for;
  if (row.correlation_id.empty()) lock["correlation_id"] = nullptr;
  if (row.last) lock["last"].erase("held_ms");
  return compact_json(lock);
}

}  // namespace

std::string locks_json(std::span<const row_state> rows, database_time at, std::size_t limit) {
  std::string locks;
  for (const auto& row : rows.first(std::min(limit, rows.size()))) {
    if (!locks.empty()) locks += ',';
    locks += lock_json(row);
  }
  return R"({"at":")" + to_rfc3339(at) + R"(","truncated":)" +
         (rows.size() > limit ? "true" : "false") + R"(,"locks":[)" + locks + "]}";
}

std::string cursor_of(const lock_event& last) {
  return compact_json(ordered_json::array(
      {last.at, last.key.type, last.key.source_id, last.version.number, last.what}));
}

std::optional<lock_event> event_at(std::string_view cursor) try {
  using parts = std::tuple<std::string, std::string, std::string, std::int64_t, std::string>;
  const auto [at, type, source, version, what] = ordered_json::parse(cursor).get<parts>();
  const auto time = parse_database_time(at);
  if (!time || (type + source + what).find('\0') != std::string::npos) return {};
  return lock_event{.key = {.type = type, .source_id = source},
                    .at = detail::text_of(*time),
                    .what = what,
                    .version = {version}};
} catch (const ordered_json::exception&) {
  return {};
}

std::string read_history(store& rows, const history_request& request, std::size_t limit) {
  const auto at = rows.now();
  history_request wanted = request;
  // One event more says that there is another page.
  ++wanted.limit;
  std::string events;
  for (std::size_t count = 0;;) {
    auto page = rows.history(wanted);
    const bool has_more = page.events.size() == wanted.limit;
    if (has_more) page.events.pop_back();
    for (const auto& event : page.events) {
      if (!events.empty()) events += ',';
      events += compact_json(json_of(event));
    }
    count += page.events.size();
    if (has_more && count < limit) {
      wanted.before = page.events.back();
      continue;
    }
    const auto next =
        has_more ? ordered_json(cursor_of(page.events.back())) : ordered_json(nullptr);
    return R"({"at":")" + to_rfc3339(at) + R"(","has_history":)" +
           (page.is_recorded ? "true" : "false") + R"(,"next":)" + compact_json(next) +
           R"(,"events":[)" + events + "]}";
  }
}

}  // namespace rowlock::cli
