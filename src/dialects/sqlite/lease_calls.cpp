// The calls of the port on a SQLite file.
#include "dialects/sqlite/lease_calls.hpp"

#include <utility>

namespace rowlock::on_sqlite {

namespace {

/// The answer that needs no write; none where the row might be granted.
std::optional<acquire_answer> refusal_of(const std::optional<found_row>& found,
                                         const acquire_request& request) {
  const auto& expected = request.expected;
  if (!found) {
    if (!expected) return {};
    return acquire_answer{.status = acquire_status::stale};
  }
  const auto& row = found->state;
  if (row.is_live() && found->owner == request.owner.text) return {};
  const bool is_run_out = row.owned && !row.is_live();
  if (expected && (row.version != *expected || is_run_out)) {
    return acquire_answer{.status = acquire_status::stale, .version = row.version};
  }
  if (!row.is_live()) return {};
  return acquire_answer{.status = acquire_status::held,
                        .version = row.version,
                        .holder = row.holder,
                        .remaining = row.remaining};
}

bool is_run_out(const std::optional<found_row>& found, const acquire_request& request) {
  return found && found->state.owned && !found->state.is_live() &&
         found->owner != request.owner.text;
}

acquire_answer acquire_one(row_statements& rows, const acquire_request& request) {
  if (const auto granted = rows.acquire(request)) {
    return {.status = acquire_status::granted, .version = granted};
  }
  // Busy, if it was not free for a moment and is now.
  return refusal_of(rows.read(request.key), request).value_or(acquire_answer{});
}

/// Renewals and releases: the same but for the statement and the words. It writes first, because it
/// mostly succeeds.
template <class Request, class Answer>
std::vector<Answer> change_all(file_turn& file, std::span<const Request> requests,
                               bool (row_statements::*change)(const Request&), Answer changed) {
  std::vector<Answer> answers(requests.size(), Answer::busy);
  if (requests.empty()) return answers;
  auto written = answers;
  const bool was_our_turn = file.try_write(requests.size(), [&](row_statements& rows) {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      written[i] = (rows.*change)(requests[i]) ? changed : Answer::lost;
    }
  });
  if (was_our_turn) return written;
  file.try_read([&](row_statements& rows) {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const auto found = rows.read(requests[i].key);
      const bool is_ours = found && found->owner == requests[i].owner.text &&
                           found->state.version == requests[i].version;
      answers[i] = is_ours ? Answer::busy : Answer::lost;
    }
  });
  return answers;
}

/// In a transaction of the file's one writer, so that what is seen is what is taken over.
acquire_answer acquire_or_take_over(row_statements& rows, const acquire_request& request) {
  const auto last = rows.read(request.key);
  auto answer = acquire_one(rows, request);
  if (answer.status == acquire_status::granted && is_run_out(last, request)) {
    answer.took_over_expired = true;
    answer.holder = last->state.holder;
    answer.remaining = last->state.remaining;
  }
  return answer;
}

/// What a look at the rows of some requests says.
struct seen_requests {
  /// Those that might be granted.
  std::vector<std::size_t> to_be_written;
  /// How many of them would take over a lease that ran out.
  std::size_t takeovers = 0;
};

/// Fills in the answers that need no write.
seen_requests look_at(row_statements& rows, std::span<const acquire_request> requests,
                      std::vector<acquire_answer>& answers) {
  seen_requests seen;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto found = rows.read(requests[i].key);
    if (const auto refused = refusal_of(found, requests[i])) {
      answers[i] = *refused;
      continue;
    }
    seen.to_be_written.push_back(i);
    answers[i] = acquire_answer{};
    if (found) answers[i].version = found->state.version;
    if (is_run_out(found, requests[i])) ++seen.takeovers;
  }
  return seen;
}

std::vector<std::optional<row_state>> states_of(row_statements& rows,
                                                std::span<const lock_key> keys) {
  std::vector<std::optional<row_state>> states;
  states.reserve(keys.size());
  for (const auto& key : keys) {
    auto found = rows.read(key);
    states.push_back(found ? std::optional{std::move(found->state)} : std::nullopt);
  }
  return states;
}

}  // namespace

std::vector<acquire_answer> acquire(file_turn& file, std::span<const acquire_request> requests) {
  std::vector<acquire_answer> answers(requests.size());
  seen_requests seen;
  const bool was_read =
      file.try_read([&](row_statements& rows) { seen = look_at(rows, requests, answers); });
  if (!was_read || seen.to_be_written.empty()) return answers;

  auto written = answers;
  const auto write = seen.takeovers == 0 ? acquire_one : acquire_or_take_over;
  const bool was_our_turn =
      file.try_write(seen.to_be_written.size() + seen.takeovers, [&](row_statements& rows) {
        for (const auto i : seen.to_be_written) written[i] = write(rows, requests[i]);
      });
  return was_our_turn ? written : answers;
}

std::vector<renew_answer> renew(file_turn& file, std::span<const renew_request> requests) {
  return change_all(file, requests, &row_statements::renew, renew_answer::renewed);
}

std::vector<release_answer> release(file_turn& file, std::span<const release_request> requests) {
  return change_all(file, requests, &row_statements::release, release_answer::released);
}

std::vector<std::optional<row_state>> read(file_turn& file, std::span<const lock_key> keys) {
  std::vector<std::optional<row_state>> states;
  file.read([&](row_statements& rows) { states = states_of(rows, keys); });
  return states;
}

std::vector<std::optional<row_state>> prepare(file_turn& file, std::span<const lock_key> keys) {
  auto states = read(file, keys);
  std::vector<lock_key> unfit;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!states[i] || (states[i]->owned && !states[i]->is_live())) unfit.push_back(keys[i]);
  }
  if (unfit.empty()) return states;

  const bool was_our_turn = file.try_write(unfit.size(), [&](row_statements& rows) {
    for (const auto& key : unfit) rows.prepare(key);
  });
  if (was_our_turn) file.try_read([&](row_statements& rows) { states = states_of(rows, keys); });
  return states;
}

std::vector<row_state> list(file_turn& file) {
  std::vector<row_state> found;
  file.read([&](row_statements& rows) { found = rows.list(); });
  return found;
}

}  // namespace rowlock::on_sqlite
