// Functions for operators of a lock table.
#include "rowlock/operators.hpp"

#include <array>

#include "base/pause.hpp"
#include "base/process.hpp"
#include "rowlock/clock.hpp"

namespace rowlock {

std::optional<row_state> show(store& rows, const lock_key& key) {
  return rows.read(std::array{key}, read_mode::shown).front();
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
  purge_request request{.older_than = older_than, .at_most = batch};
  check(request);
  purge_result result;
  while (!stop.stop_requested()) {
    const auto answer = rows.purge(request);
    result.purged += answer.purged;
    if (!answer.last) {
      result.is_complete = true;
      break;
    }
    request.after = answer.last;
  }
  return result;
}

}  // namespace rowlock
