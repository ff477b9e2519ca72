// How a row is granted, and why it is not.
#include "sqlite/acquire.hpp"

namespace rowlock::on_sqlite {

namespace {

bool is_live_and_mine(const std::optional<found_row>& found, const acquire_request& request) {
  return found && found->state.is_live() && found->owner == request.owner.text;
}

bool is_run_out(const found_row& found) { return found.state.owned && !found.state.is_live(); }

bool is_takeover(const std::optional<found_row>& found, const acquire_request& request) {
  return found && is_run_out(*found) && found->owner != request.owner.text;
}

/// The answer that needs no write; none where the row might be granted.
std::optional<acquire_answer> refusal_of(const std::optional<found_row>& found,
                                         const acquire_request& request) {
  const auto& expected = request.expected;
  if (!found) {
    if (!expected) return {};
    return acquire_answer{.status = acquire_status::stale};
  }
  if (is_live_and_mine(found, request)) return {};
  const auto& row = found->state;
  if (expected && (row.version != *expected || is_run_out(*found))) {
    return acquire_answer{.status = acquire_status::stale, .version = row.version};
  }
  if (request.unless_done && row.done) {
    return acquire_answer{.status = acquire_status::done, .version = row.version, .done = row.done};
  }
  if (!row.is_live()) return {};
  return acquire_answer{.status = acquire_status::held,
                        .version = row.version,
                        .holder = row.holder,
                        .remaining = row.remaining};
}

}  // namespace

std::vector<candidate> look_at(row_statements& rows, std::span<const acquire_request> requests,
                               std::vector<acquire_answer>& answers) {
  std::vector<candidate> candidates;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto found = rows.read(requests[i].key);
    if (const auto refused = refusal_of(found, requests[i])) {
      answers[i] = *refused;
      continue;
    }
    candidates.push_back({.place = i,
                          .is_mine = is_live_and_mine(found, requests[i]),
                          .is_there = found.has_value(),
                          .is_takeover = is_takeover(found, requests[i])});
    answers[i] = acquire_answer{};
    if (found) answers[i].version = found->state.version;
  }
  return candidates;
}

acquire_answer acquire_one(row_statements& rows, const acquire_request& request) {
  if (const auto granted = rows.acquire(request)) {
    return {.status = acquire_status::granted, .version = granted};
  }
  // Busy, if it was not free for a moment and is now.
  return refusal_of(rows.read(request.key), request).value_or(acquire_answer{});
}

acquire_answer acquire_or_take_over(row_statements& rows, const acquire_request& request) {
  const auto last = rows.read(request.key);
  auto answer = acquire_one(rows, request);
  if (answer.status == acquire_status::granted && is_takeover(last, request)) {
    answer.took_over_expired = true;
    answer.holder = last->state.holder;
    answer.remaining = last->state.remaining;
  }
  return answer;
}

}  // namespace rowlock::on_sqlite
