// The calls of the port for leases, on a SQLite file.
#include "sqlite/leases.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "sqlite/acquire.hpp"

namespace rowlock::on_sqlite {

namespace {

/// What a holder asks for: the same but for the statement and the words. It writes first, because
/// it mostly succeeds.
template <class Request, class Answer, class Change>
std::vector<Answer> change_all(file_turn& file, std::span<const Request> requests,
                               const Change& change, Answer changed,
                               std::size_t statements_each = 1) {
  std::vector<Answer> answers(requests.size(), Answer::busy);
  if (requests.empty()) return answers;
  auto written = answers;
  const bool was_our_turn =
      file.try_write(requests.size() * statements_each, [&](row_statements& rows) {
        for (std::size_t i = 0; i < requests.size(); ++i) {
          written[i] = std::invoke(change, rows, requests[i]) ? changed : Answer::lost;
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
  std::vector<candidate> candidates;
  const bool was_read =
      file.try_read([&](row_statements& rows) { candidates = look_at(rows, requests, answers); });
  if (!was_read || candidates.empty()) return answers;

  auto written = answers;
  const auto takeovers = static_cast<std::size_t>(
      std::count_if(candidates.begin(), candidates.end(),
                    [](const candidate& wanted) { return wanted.is_takeover; }));
  const auto write = takeovers == 0 ? acquire_one : acquire_or_take_over;
  const bool was_our_turn =
      file.try_write(candidates.size() + takeovers, [&](row_statements& rows) {
        for (const auto& wanted : candidates) {
          written[wanted.place] = write(rows, requests[wanted.place]);
        }
      });
  return was_our_turn ? written : answers;
}

std::vector<renew_answer> renew(file_turn& file, std::span<const renew_request> requests) {
  return change_all(file, requests, &row_statements::renew, renew_answer::renewed);
}

std::vector<release_answer> release(file_turn& file, std::span<const release_request> requests) {
  return change_all(file, requests, &row_statements::release, release_answer::released);
}

hand_over_answer hand_over(file_turn& file, const hand_over_request& request) {
  hand_over_answer answer;
  const auto change = [&](row_statements& rows, const release_request& ended) {
    answer.granted.reset();
    const bool is_released = rows.release(ended);
    if (is_released) answer.granted = rows.acquire(request.next);
    return is_released;
  };
  answer.ended =
      change_all(file, std::span{&request.ended, 1}, change, release_answer::released, 2).front();
  if (answer.ended != release_answer::released) answer.granted.reset();
  return answer;
}

note_answer write_note(file_turn& file, const note_request& request) {
  return change_all(file, std::span{&request, 1}, &row_statements::write_note, note_answer::written)
      .front();
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

}  // namespace rowlock::on_sqlite
