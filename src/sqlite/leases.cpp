// Renewing, releasing, reading; what operators do.
#include "sqlite/leases.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "sqlite/acquire.hpp"

namespace rowlock::on_sqlite {

namespace {

/// What a holder asks for: the same but for the statement and the words. It writes first, because
/// it mostly succeeds.
template <class Request, class Change>
std::vector<change_answer> change_all(file_access& file, std::span<const Request> requests,
                                      const Change& change, std::size_t statements_each = 1) {
  std::vector<change_answer> answers(requests.size(), change_answer::busy);
  if (requests.empty()) return answers;
  auto written = answers;
  const bool was_our_turn =
      file.try_write(requests.size() * statements_each, [&](row_statements& rows) {
        for (std::size_t i = 0; i < requests.size(); ++i) {
          written[i] =
              std::invoke(change, rows, requests[i]) ? change_answer::done : change_answer::lost;
        }
      });
  if (was_our_turn) return written;
  file.try_read([&](row_statements& rows) {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      answers[i] = detail::busy_or_lost(rows.read(requests[i].key), requests[i]);
    }
  });
  return answers;
}

std::vector<std::optional<row_state>> states_in(row_statements& rows,
                                                std::span<const lock_key> keys) {
  std::vector<std::optional<seen_row>> seen;
  seen.reserve(keys.size());
  for (const auto& key : keys) seen.push_back(rows.read(key));
  return detail::states_of(std::move(seen));
}

}  // namespace

std::vector<acquire_answer> acquire(file_access& file, std::span<const acquire_request> requests) {
  std::vector<acquire_answer> answers(requests.size());
  std::vector<grantable> grantables;
  const bool was_read =
      file.try_read([&](row_statements& rows) { grantables = look_at(rows, requests, answers); });
  if (!was_read || grantables.empty()) return answers;

  auto written = answers;
  const auto takeovers = static_cast<std::size_t>(
      std::count_if(grantables.begin(), grantables.end(),
                    [](const grantable& wanted) { return wanted.is_takeover; }));
  const auto write = takeovers == 0 ? acquire_one : acquire_or_take_over;
  const bool was_our_turn =
      file.try_write(grantables.size() + takeovers, [&](row_statements& rows) {
        for (const auto& wanted : grantables) {
          written[wanted.place] = write(rows, requests[wanted.place]);
        }
      });
  return was_our_turn ? written : answers;
}

std::vector<change_answer> renew(file_access& file, std::span<const renew_request> requests) {
  return change_all(file, requests, &row_statements::renew);
}

std::vector<change_answer> release(file_access& file, std::span<const release_request> requests) {
  return change_all(file, requests, &row_statements::release);
}

handoff_answer handoff(file_access& file, const handoff_request& request) {
  handoff_answer answer;
  const auto change = [&](row_statements& rows, const release_request& ended) {
    answer.granted.reset();
    const bool is_released = rows.release(ended);
    if (is_released) answer.granted = rows.acquire(request.next);
    return is_released;
  };
  answer.ended = change_all(file, std::span{&request.ended, 1}, change, 2).front();
  if (answer.ended != change_answer::done) answer.granted.reset();
  return answer;
}

change_answer write_note(file_access& file, const note_request& request) {
  return change_all(file, std::span{&request, 1}, &row_statements::write_note).front();
}

std::vector<std::optional<row_state>> read(file_access& file, std::span<const lock_key> keys) {
  std::vector<std::optional<row_state>> states;
  file.read([&](row_statements& rows) { states = states_in(rows, keys); });
  return states;
}

std::vector<std::optional<row_state>> prepare(file_access& file, std::span<const lock_key> keys) {
  auto states = read(file, keys);
  std::vector<lock_key> unfit;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!states[i] || (states[i]->owned && !states[i]->is_live())) unfit.push_back(keys[i]);
  }
  if (unfit.empty()) return states;

  const bool was_our_turn = file.try_write(unfit.size(), [&](row_statements& rows) {
    for (const auto& key : unfit) rows.prepare(key);
  });
  if (was_our_turn) file.try_read([&](row_statements& rows) { states = states_in(rows, keys); });
  return states;
}

std::vector<row_state> list(file_access& file) {
  std::vector<row_state> found;
  file.read([&](row_statements& rows) { found = rows.list(); });
  return found;
}

std::optional<std::string> used_by(file_access& file, const lock_key& key) {
  bool is_there = false;
  file.read([&](row_statements& rows) { is_there = rows.read(key).has_value(); });
  if (!is_there || !file.has_writer()) return std::nullopt;
  return "a transaction that is writing to the file, whatever it writes";
}

force_answer force_release(file_access& file, const force_request& request) {
  bool is_to_be_taken = false;
  file.read([&](row_statements& rows) {
    const auto found = rows.read(request.key);
    is_to_be_taken = found && found->state.version == request.version &&
                     (found->state.owned || found->state.is_live());
  });
  if (!is_to_be_taken) return force_answer::stale;

  auto answer = force_answer::stale;
  const bool was_our_turn = file.try_write(1, [&](row_statements& rows) {
    if (rows.force_release(request)) answer = force_answer::released;
  });
  return was_our_turn ? answer : force_answer::busy;
}

purge_answer purge(file_access& file, const purge_request& request) {
  std::vector<purgeable_row> seen;
  file.read([&](row_statements& rows) { seen = rows.look_for_idle(request); });
  purge_answer answer;
  if (seen.size() > request.at_most) {
    seen.pop_back();
    answer.last = seen.back().key;
  }
  std::erase_if(seen, [](const purgeable_row& row) { return !row.is_idle; });
  if (seen.empty()) return answer;

  std::size_t purged = 0;
  const bool was_our_turn = file.try_write(seen.size(), [&](row_statements& rows) {
    purged = 0;
    for (const auto& row : seen) {
      if (rows.delete_if_idle(row.key, request.older_than)) ++purged;
    }
  });
  if (was_our_turn) answer.purged = purged;
  return answer;
}

}  // namespace rowlock::on_sqlite
