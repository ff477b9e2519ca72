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

/// `json_of` with the names of the page's contract.
ordered_json lock_of(const row_state& row) {
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
  return lock;
}

}  // namespace

ordered_json locks_answer(std::span<const row_state> rows, const std::string& at,
                          const lock_filter& filter) {
  auto locks = ordered_json::array();
  bool is_truncated = false;
  for (const auto& row : rows) {
    if (filter.type && row.key.type != *filter.type) continue;
    if (filter.holder && row.holder != *filter.holder) continue;
    if (locks.size() == filter.limit) {
      is_truncated = true;
      break;
    }
    locks.push_back(lock_of(row));
  }
  return {{"at", at}, {"truncated", is_truncated}, {"locks", std::move(locks)}};
}

std::string compact_json(const ordered_json& shown) {
  return shown.dump(-1, ' ', true, ordered_json::error_handler_t::replace);
}

}  // namespace rowlock::cli
