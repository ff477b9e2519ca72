// JSON of the page: see cli/web/README.md.
#include "cli/serve/api_json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/database_time.hpp"
#include "cli/shown_row.hpp"

namespace rowlock::cli {

namespace {

using nlohmann::ordered_json;

ordered_json text_or_null(const std::string& text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

/// One of the `locks`.
std::string lock_json(const row_state& row) {
  // `json_of` with the names of the page's contract.
  ordered_json all = json_of(row);
  ordered_json lock;
  for (const char* const same :
       {"type", "source", "state", "holder", "since", "held_ms", "ttl_ms", "sign_of_life_ms",
        "remaining_ms", "version", "note", "failures", "expiries", "force_reason", "forced"}) {
    lock[same] = std::move(all[same]);
  }
  lock["waiting"] = row.is_waited_for;
  lock["correlation_id"] = text_or_null(row.correlation_id);
  lock["last"] = std::move(all["last"]);
  if (lock["last"].is_object()) lock["last"].erase("held_ms");
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

std::string compact_json(const ordered_json& shown) {
  return shown.dump(-1, ' ', true, ordered_json::error_handler_t::replace);
}

}  // namespace rowlock::cli
