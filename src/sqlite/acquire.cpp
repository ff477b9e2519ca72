// Acquiring single rows of a SQLite file.
#include "sqlite/acquire.hpp"

#include <algorithm>

namespace rowlock::sqlite {

namespace {

bool is_takeover(const std::optional<seen_row>& found, const acquire_request& request) {
  return found && found->state.owned && !found->state.is_live() && !found->is_of(request.owner);
}

}  // namespace

std::vector<grantable> find_grantable(row_statements& rows,
                                      std::span<const acquire_request> requests,
                                      std::vector<acquire_answer>& answers) {
  std::vector<grantable> might_be_granted;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto found = rows.read(requests[i].key);
    if (const auto refused = detail::refusal_of(found, requests[i])) {
      answers[i] = *refused;
      continue;
    }
    might_be_granted.push_back({.place = i,
                                .is_mine = found && found->is_live_and_of(requests[i].owner),
                                .is_there = found.has_value(),
                                .is_takeover = is_takeover(found, requests[i])});
    answers[i] = acquire_answer{};
    if (found) answers[i].version = found->state.version;
  }
  return might_be_granted;
}

acquire_answer acquire_one(row_statements& rows, const acquire_request& request) {
  if (const auto granted = rows.acquire(request)) {
    return {.status = acquire_status::granted, .version = granted};
  }
  // Busy if the row was not free at the first statement and is now.
  return detail::refusal_of(rows.read(request.key), request).value_or(acquire_answer{});
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

std::vector<acquire_answer> acquire(file_access& file, std::span<const acquire_request> requests) {
  std::vector<acquire_answer> answers(requests.size());
  std::vector<grantable> grantables;
  const bool was_read = file.try_read(
      [&](row_statements& rows) { grantables = find_grantable(rows, requests, answers); });
  if (!was_read || grantables.empty()) return answers;

  auto written = answers;
  const auto takeovers = static_cast<std::size_t>(
      std::count_if(grantables.begin(), grantables.end(),
                    [](const grantable& wanted) { return wanted.is_takeover; }));
  const auto write = takeovers == 0 ? acquire_one : acquire_or_take_over;
  const bool is_written = file.try_write(grantables.size() + takeovers, [&](row_statements& rows) {
    for (const auto& wanted : grantables) {
      written[wanted.place] = write(rows, requests[wanted.place]);
    }
  });
  return is_written ? written : answers;
}

}  // namespace rowlock::sqlite
