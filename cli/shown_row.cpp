// Formatting of a row, for people and for programs.
#include "cli/shown_row.hpp"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/duration.hpp"

namespace rowlock::cli {

namespace {

using nlohmann::ordered_json;

/// `2026-01-31 12:00:00.000` is `2026-01-31T12:00:00.000Z` for programs (RFC 3339).
ordered_json timestamp(std::string database_time) {
  if (database_time.empty()) return nullptr;
  std::replace(database_time.begin(), database_time.end(), ' ', 'T');
  return database_time + 'Z';
}

std::chrono::milliseconds::rep in_milliseconds(std::chrono::microseconds duration) {
  return std::chrono::ceil<std::chrono::milliseconds>(duration).count();
}

ordered_json json_of_done(const std::optional<done_mark>& done) {
  if (!done) return nullptr;
  return {{"by", done->by.number},
          {"at", timestamp(done->at)},
          {"remaining_ms", in_milliseconds(done->remaining)}};
}

}  // namespace

std::string state_of(const row_state& row) {
  if (row.is_live()) return row.owned ? "held" : "closed";
  if (row.used_by) return "busy";
  return row.owned ? "run out" : "free";
}

std::string to_the_second(const std::string& database_time) {
  return database_time.substr(0, database_time.find('.'));
}

std::string possession_in_words(const row_state& row) {
  const std::string state = state_of(row);
  const std::string time = row.is_live() ? " for another " + show_duration(*row.remaining) : "";
  if (state == "busy") return "busy: " + *row.used_by + " has the row";
  if (row.owned) return state + " by " + row.holder + time;
  return state + time + (row.is_live() ? " after " + row.holder : "");
}

ordered_json json_of(const row_state& row) {
  ordered_json shown;
  shown["type"] = row.key.type;
  shown["source"] = row.key.source_id;
  shown["state"] = state_of(row);
  shown["holder"] = row.holder;
  shown["since"] = timestamp(row.acquired_at);
  shown["remaining_ms"] = row.is_live() ? in_milliseconds(*row.remaining) : 0;
  shown["version"] = row.version.number;
  shown["note"] = row.note;
  shown["done"] = json_of_done(row.done);
  shown["failures"] = row.failure_count;
  shown["expiries"] = row.expiry_count;
  shown["force_reason"] = row.force_reason;
  shown["used_by"] = row.used_by ? ordered_json(*row.used_by) : ordered_json(nullptr);
  return shown;
}

void print_json(const ordered_json& shown) {
  std::cout << shown.dump(2, ' ', true, ordered_json::error_handler_t::replace) << '\n';
}

}  // namespace rowlock::cli
