// JSON of the page: see cli/web/README.md.
#include "cli/serve/api_json.hpp"

#include <nlohmann/json.hpp>

#include "cli/shown_row.hpp"

namespace rowlock::cli {

namespace {

using nlohmann::ordered_json;

ordered_json text_or_null(const std::string& text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

bool matches(const row_state& row, const lock_filter& filter) {
  return (!filter.type || row.key.type == *filter.type) &&
         (!filter.holder || row.holder == *filter.holder);
}

}  // namespace

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

std::string locks_json(std::span<const row_state> rows, const std::string& at,
                       const lock_filter& filter,
                       const std::function<std::string_view(std::size_t)>& lock_json_of) {
  std::string locks;
  std::size_t count = 0;
  bool is_truncated = false;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!matches(rows[i], filter)) continue;
    if (count == filter.limit) {
      is_truncated = true;
      break;
    }
    if (count++ > 0) locks += ',';
    locks += lock_json_of(i);
  }
  // `at` is made by `to_rfc3339`: it has nothing to escape.
  return R"({"at":")" + at + R"(","truncated":)" + (is_truncated ? "true" : "false") +
         R"(,"locks":[)" + locks + "]}";
}

std::string compact_json(const ordered_json& shown) {
  return shown.dump(-1, ' ', true, ordered_json::error_handler_t::replace);
}

}  // namespace rowlock::cli
