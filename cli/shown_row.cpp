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

std::chrono::milliseconds::rep whole_milliseconds(std::chrono::microseconds duration) {
  return std::chrono::ceil<std::chrono::milliseconds>(duration).count();
}

ordered_json in_milliseconds_or_null(const std::optional<std::chrono::microseconds>& duration) {
  return duration ? ordered_json(whole_milliseconds(*duration)) : nullptr;
}

ordered_json text_or_null(const std::string& text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

ordered_json json_of_last(const std::optional<last_use>& last) {
  if (!last) return nullptr;
  return {{"holder", last->holder},
          {"from", timestamp(last->from)},
          {"until", timestamp(last->until)},
          {"held_ms", in_milliseconds_or_null(last->held_for)},
          {"how", last->how}};
}

ordered_json json_of_force(const row_state& row) {
  if (row.forced_at.empty()) return nullptr;
  return {
      {"at", timestamp(row.forced_at)}, {"from", row.forced_from}, {"reason", row.force_reason}};
}

ordered_json json_of_ask(const std::optional<ask_mark>& asked) {
  if (!asked) return nullptr;
  return {{"at", timestamp(asked->at)}, {"by", asked->by}, {"reason", asked->reason}};
}

ordered_json json_of_done(const std::optional<done_mark>& done) {
  if (!done) return nullptr;
  return {{"by", done->by.number},
          {"at", timestamp(done->at)},
          {"remaining_ms", whole_milliseconds(done->remaining)}};
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

bool has_no_sign(const row_state& row) {
  // A holder that lives renews when a third of the ttl has passed.
  const auto silent = row.silent_for();
  return silent && *silent > *row.ttl / 2;
}

std::string short_liveness_of(const row_state& row) {
  const auto silent = row.silent_for();
  if (!silent) return "";
  if (row.has_clock_fault()) return "clock fault";
  const auto time = show_duration(std::max(*silent, std::chrono::microseconds::zero()));
  return has_no_sign(row) ? "no sign " + time : time + " ago";
}

std::string liveness_of(const row_state& row) {
  const auto silent = row.silent_for();
  if (!silent) return "";
  if (row.has_clock_fault()) {
    return "clock fault: more is left than its lease of " + show_duration(*row.ttl) +
           "; the database's clock was set back, and `rowlock release --force` frees the key";
  }
  const auto times = show_duration(std::max(*silent, std::chrono::microseconds::zero()));
  const auto of = ", lease " + show_duration(*row.ttl);
  if (has_no_sign(row)) return "no sign for " + times + of;
  const bool is_renewed = !row.held_for || *row.held_for > *silent + std::chrono::milliseconds{1};
  return (is_renewed ? "renewed " : "granted ") + times + " ago" + of;
}

std::string possession_in_words(const row_state& row) {
  const std::string state = state_of(row);
  const std::string left = row.is_live() ? show_duration(*row.remaining) : "";
  if (state == "busy") return "busy: " + *row.used_by + " has the row";
  if (row.owned) {
    const auto liveness = liveness_of(row);
    return state + " by " + row.holder + (left.empty() ? "" : ", " + left + " left") +
           (liveness.empty() ? "" : " (" + liveness + ')');
  }
  return state + (left.empty() ? "" : " for another " + left + " after " + row.holder);
}

void row_totals::add(const row_state& row) {
  if (row.is_waited_for) ++waited_for;
  if (!row.is_live()) {
    if (row.owned) ++run_out;
    return;
  }
  if (!row.owned) {
    ++closed;
    return;
  }
  ++held;
  oldest = std::max(oldest, row.held_for.value_or(std::chrono::microseconds{0}));
  if (has_no_sign(row)) ++silent;
}

void row_totals::add(const row_totals& other) {
  held += other.held;
  closed += other.closed;
  run_out += other.run_out;
  silent += other.silent;
  waited_for += other.waited_for;
  oldest = std::max(oldest, other.oldest);
}

ordered_json json_of(const lock_event& event) {
  return {{"at", timestamp(event.at)},
          {"type", event.key.type},
          {"source", event.key.source_id},
          {"what", event.what},
          {"version", event.version.number},
          {"token", event.token ? ordered_json(event.token->number) : ordered_json(nullptr)},
          {"holder", text_or_null(event.holder)},
          {"since", timestamp(event.since)},
          {"until", timestamp(event.until)},
          {"held_ms", in_milliseconds_or_null(event.held_for)},
          {"reason", text_or_null(event.reason)},
          {"correlation_id", text_or_null(event.correlation_id)}};
}

ordered_json json_of(const row_state& row) {
  return {{"type", row.key.type},
          {"source", row.key.source_id},
          {"state", state_of(row)},
          {"holder", row.holder},
          {"since", timestamp(row.acquired_at)},
          {"held_ms", in_milliseconds_or_null(row.held_for)},
          {"ttl_ms", in_milliseconds_or_null(row.owned ? row.ttl : std::nullopt)},
          {"sign_of_life_ms", in_milliseconds_or_null(row.silent_for())},
          {"remaining_ms", row.is_live() ? whole_milliseconds(*row.remaining) : 0},
          {"clock_fault", row.has_clock_fault()},
          {"version", row.version.number},
          {"note", row.note},
          {"correlation_id", row.correlation_id},
          {"waited_for", row.is_waited_for},
          {"asked", json_of_ask(row.asked)},
          {"done", json_of_done(row.done)},
          {"failures", row.failure_count},
          {"expiries", row.expiry_count},
          {"force_reason", row.force_reason},
          {"forced", json_of_force(row)},
          {"last", json_of_last(row.last)},
          {"used_by", row.used_by ? ordered_json(*row.used_by) : ordered_json(nullptr)}};
}

std::string json_text(const ordered_json& shown) {
  return shown.dump(2, ' ', true, ordered_json::error_handler_t::replace);
}

std::string compact_json(const ordered_json& shown) {
  return shown.dump(-1, ' ', true, ordered_json::error_handler_t::replace);
}

void print_json(const ordered_json& shown) { std::cout << json_text(shown) << '\n'; }

}  // namespace rowlock::cli
