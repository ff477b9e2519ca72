// The reasons for not granting or not changing a row, derived from the row as read.
#include "store/refusal_of.hpp"

#include <utility>

namespace rowlock::detail {

std::optional<acquire_answer> refusal_of(const std::optional<seen_row>& seen,
                                         const acquire_request& request,
                                         std::chrono::microseconds skew) {
  if (!seen) {
    if (!request.expected) return std::nullopt;
    return acquire_answer{.status = acquire_status::stale};
  }
  if (seen->is_live_and_of(request.owner)) return std::nullopt;
  const auto& row = seen->state;
  // The holder of an expired lease may still commit, so its version must not be expected.
  const bool is_run_out = row.owned && !row.is_live();
  if (request.expected && (*request.expected != row.version || is_run_out)) {
    return acquire_answer{.status = acquire_status::stale, .version = row.version};
  }
  if (request.unless_done && row.done) {
    return acquire_answer{.status = acquire_status::done, .version = row.version, .done = row.done};
  }
  if (seen->can_be_taken(skew)) return std::nullopt;
  return acquire_answer{.status = acquire_status::held,
                        .version = row.version,
                        .holder = row.holder,
                        .remaining = seen->left + skew};
}

change_answer busy_or_lost(const std::optional<seen_row>& seen, const ask_request& request) {
  const bool is_as_seen = seen && seen->state.owned && seen->state.version == request.version;
  return is_as_seen ? change_answer::busy : change_answer::lost;
}

force_answer busy_or_stale(const std::optional<seen_row>& seen, const force_request& request,
                           std::chrono::microseconds skew) {
  const bool is_as_seen = seen && seen->state.version == request.version &&
                          (seen->state.owned || !seen->can_be_taken(skew));
  return is_as_seen ? force_answer::busy : force_answer::stale;
}

std::vector<std::size_t> unfit_to_commit(const std::vector<std::optional<seen_row>>& seen,
                                         std::chrono::microseconds skew) {
  std::vector<std::size_t> unfit;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const auto& row = seen[i];
    if (!row || (row->state.owned && row->can_be_taken(skew))) unfit.push_back(i);
  }
  return unfit;
}

refusal held_by(const seen_row& seen) {
  return {.reason = refusal_reason::held,
          .key = seen.state.key,
          .holder = seen.state.holder,
          .remaining = seen.state.remaining,
          .current = seen.state.version};
}

refusal busy_at(const lock_key& key) { return {.reason = refusal_reason::busy, .key = key}; }

std::vector<std::optional<row_state>> states_of(std::vector<std::optional<seen_row>> seen) {
  std::vector<std::optional<row_state>> states;
  states.reserve(seen.size());
  for (auto& row : seen) {
    states.push_back(row ? std::optional{std::move(row->state)} : std::nullopt);
  }
  return states;
}

}  // namespace rowlock::detail
