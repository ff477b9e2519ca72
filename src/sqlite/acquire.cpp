// Acquiring rows of a SQLite file, each by itself and in sets.
#include "sqlite/acquire.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "sqlite/row_statements.hpp"

namespace rowlock::sqlite {

namespace {

/// One request that might be granted.
struct grantable {
  /// Index among the requests.
  std::size_t place;
  /// The row exists with a live lease of this owner.
  bool is_mine = false;
  bool is_there = false;
  /// Granting it takes over an expired lease.
  bool is_takeover = false;
};

bool is_takeover(const std::optional<seen_row>& found, const acquire_request& request) {
  return found && found->state.owned && !found->state.is_live() && !found->is_of(request.owner);
}

/// Fills in the answers that need no write. Returns the other requests, whose answer is `busy`
/// until they are written.
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

/// One statement; a refusal takes another one, which reads the row.
acquire_answer acquire_one(row_statements& rows, const acquire_request& request) {
  if (const auto granted = rows.acquire(request)) {
    return {.status = acquire_status::granted, .version = granted};
  }
  // Busy if the row was not free at the first statement and is now.
  return detail::refusal_of(rows.read(request.key), request).value_or(acquire_answer{});
}

/// Requires the transaction of the file's one writer, so that the row it reads is the one it takes
/// over.
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

}  // namespace

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

namespace {

using answer_list = std::vector<acquire_answer>;

/// Grants the set in a transaction. False at the first request that is not granted: its answer and
/// those after it say why, and the transaction must be rolled back.
bool grant_all(row_statements& rows, std::span<const acquire_request> requests,
               answer_list& answers) {
  for (std::size_t i = 0; i < requests.size(); ++i) {
    answers[i] = acquire_or_take_over(rows, requests[i]);
    if (answers[i].status == acquire_status::granted) continue;
    std::fill_n(answers.begin(), i, acquire_answer{.status = acquire_status::withheld});
    answer_list behind(requests.size() - i - 1);
    for (const auto& free : find_grantable(rows, requests.subspan(i + 1), behind)) {
      behind[free.place] = {.status = acquire_status::withheld};
    }
    std::move(behind.begin(), behind.end(), answers.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    return false;
  }
  return true;
}

/// The order of granting if not all requests can be granted.
int rank_of(const grantable& wanted) {
  if (wanted.is_mine) return 0;
  return wanted.is_there ? 1 : 2;
}

}  // namespace

answer_list acquire_all(file_access& file, std::span<const acquire_request> requests) {
  answer_list answers(requests.size());
  std::vector<grantable> grantables;
  const bool was_read = file.try_read(
      [&](row_statements& rows) { grantables = find_grantable(rows, requests, answers); });
  if (!was_read || requests.empty()) return answers;
  if (grantables.size() < requests.size()) {
    for (const auto& free : grantables) answers[free.place] = {.status = acquire_status::withheld};
    return answers;
  }
  auto written = answers;
  const bool is_written =
      file.try_write_if([&](row_statements& rows) { return grant_all(rows, requests, written); });
  return is_written ? written : answers;
}

answer_list acquire_any(file_access& file, std::span<const acquire_request> requests,
                        std::size_t at_most) {
  answer_list withheld(requests.size(), {.status = acquire_status::withheld});
  std::vector<grantable> grantables;
  const bool was_read = file.try_read([&](row_statements& rows) {
    auto seen = withheld;
    grantables = find_grantable(rows, requests, seen);
  });
  if (!was_read) return answer_list(requests.size());
  if (grantables.empty() || at_most == 0) return withheld;

  std::stable_sort(grantables.begin(), grantables.end(),
                   [](const auto& a, const auto& b) { return rank_of(a) < rank_of(b); });
  answer_list written;
  const bool is_written = file.try_write_if([&](row_statements& rows) {
    written = withheld;
    std::size_t granted = 0;
    for (const auto& wanted : grantables) {
      if (granted == at_most) break;
      auto answer = acquire_or_take_over(rows, requests[wanted.place]);
      if (answer.status != acquire_status::granted) continue;
      written[wanted.place] = std::move(answer);
      ++granted;
    }
    return true;
  });
  return is_written ? written : answer_list(requests.size());
}

}  // namespace rowlock::sqlite
