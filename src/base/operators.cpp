// Calls for operators, on any store.
#include "rowlock/operators.hpp"

#include <array>
#include <cstddef>
#include <string>

#include "base/pause.hpp"
#include "base/process.hpp"
#include "rowlock/clock.hpp"

namespace rowlock {

namespace {

constexpr std::size_t most_refused_keys = 10;

}  // namespace

std::optional<row_state> show(store& rows, const lock_key& key) {
  return rows.read(std::array{key}, read_mode::shown).front();
}

ask_result ask(store& rows, const lock_key& key, const std::string& reason, const std::string& by) {
  ask_request request{
      .key = key, .version = {}, .by = by.empty() ? detail::holder_label() : by, .reason = reason};
  check(request);
  auto result = ask_result::busy;
  detail::try_for_a_moment(*system_time(), {}, [&] {
    const auto row = rows.read(std::array{key}).front();
    if (!row || !row->owned || !row->is_live()) {
      result = ask_result::free;
      return true;
    }
    request.version = row->version;
    if (rows.ask(request) != change_answer::done) return false;
    result = ask_result::asked;
    return true;
  });
  return result;
}

force_result force_release(store& rows, const lock_key& key, version expected,
                           const std::string& reason, const std::string& by) {
  force_request request{.key = key, .version = expected, .reason = reason};
  check(request);  // before the suffix hides an empty reason
  request.reason += " (by " + (by.empty() ? detail::holder_label() : by) + ')';
  force_result result;
  detail::try_for_a_moment(*system_time(), {}, [&] {
    result.answer = rows.force_release(request);
    return result.answer != force_answer::busy;
  });
  result.now = show(rows, key);
  return result;
}

purge_result purge(store& rows, std::chrono::microseconds older_than, std::size_t batch,
                   const std::stop_token& stop) {
  purge_request request{.older_than = older_than, .limit = batch};
  check(request);
  purge_result result;
  while (!stop.stop_requested()) {
    const auto answer = rows.purge(request);
    result.purged += answer.purged;
    result.refused += answer.refused.size();
    for (const auto& key : answer.refused) {
      if (result.refused_keys.size() < most_refused_keys) result.refused_keys.push_back(key);
    }
    if (!answer.last) {
      result.is_complete = true;
      break;
    }
    request.after = answer.last;
  }
  return result;
}

purge_result purge_history(store& rows, std::chrono::microseconds older_than, std::size_t batch,
                           const std::stop_token& stop) {
  const history_purge_request request{.older_than = older_than, .limit = batch};
  check(request);
  purge_result result;
  while (!stop.stop_requested()) {
    const auto purged = rows.purge_history(request);
    result.purged += purged;
    if (purged < batch) {
      result.is_complete = true;
      break;
    }
  }
  return result;
}

}  // namespace rowlock
