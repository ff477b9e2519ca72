// The rows of an in-memory lock table.
#include "testing/memory_rows.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/database_time.hpp"

namespace rowlock::detail {

std::string utc_text(std::chrono::system_clock::time_point shown) {
  return text_of(std::chrono::floor<std::chrono::microseconds>(shown));
}

checked_mutex& memory_rows::mutex_at_home() {
  home_.require();
  return mutex;
}

std::int64_t memory_rows::now_us() const {
  return std::chrono::duration_cast<std::chrono::microseconds>(now().time_since_epoch()).count();
}

std::chrono::microseconds memory_rows::left_of(const memory_row& found) const {
  return std::chrono::duration_cast<std::chrono::microseconds>(found.expires_at - now());
}

void memory_rows::move_version(memory_row& moved) const {
  moved.version.number = std::max(moved.version.number + 1, now_us());
}

void memory_rows::end(memory_row& ended, std::string_view how) const {
  move_version(ended);
  if (ended.owner) {
    // A lease that ran out ended then, by the wall clock that the texts show.
    const auto over = std::max(now() - ended.expires_at, boot_clock::duration::zero());
    const auto ago = how == "ran out" ? over : boot_clock::duration::zero();
    ended.ended_at = std::chrono::system_clock::now() -
                     std::chrono::duration_cast<std::chrono::system_clock::duration>(ago);
    ended.ended_as = how;
    ended.lasted =
        std::chrono::duration_cast<std::chrono::microseconds>(now() - ago - ended.acquired_when);
  }
  ended.owner.reset();
  ended.expires_at = {};
}

void memory_rows::use(memory_row& used, std::string_view how) const {
  move_version(used);
  used.owner.reset();
  used.holder.clear();
  used.acquired_at.clear();
  used.expires_at = {};
  used.ended_at = std::chrono::system_clock::now();
  used.ended_as = how;
  used.lasted.reset();
}

memory_row* memory_rows::granted(const lock_key& key, const owner_id& owner, version seen) {
  const auto found = by_key.find(key);
  if (found == by_key.end() || found->second.owner != owner || found->second.version != seen) {
    return nullptr;
  }
  return &found->second;
}

void memory_rows::release(memory_row& held, const release_request& request) const {
  end(held, request.failed ? "failed" : "released");
  if (request.failed) ++held.shown.failure_count;
  if (request.stay_closed > std::chrono::microseconds::zero()) {
    held.expires_at = now() + request.stay_closed;
  }
  if (request.done_for) {
    held.done_by = request.version;
    held.done_at = utc_text();
    held.done_until = now() + *request.done_for;
  }
}

row_state memory_rows::state_of(const lock_key& key, const memory_row& found) const {
  row_state state = found.shown;
  state.key = key;
  state.version = found.version;
  state.owned = found.owner.has_value();
  if (state.owned) {
    state.acquired_at = found.acquired_at;
    state.held_for =
        std::chrono::duration_cast<std::chrono::microseconds>(now() - found.acquired_when);
    state.ttl = found.ttl;
    state.correlation_id = found.correlation_id;
  } else if (found.ended_at) {
    state.last = last_use{.holder = found.holder,
                          .from = found.acquired_at,
                          .until = utc_text(*found.ended_at),
                          .how = std::string{found.ended_as},
                          .held_for = found.lasted};
  }
  if (state.owned || is_live(found)) {
    state.holder = found.holder;
    state.remaining = left_of(found);
  }
  if (!state.owned || found.asked_version != found.version) state.asked.reset();
  if (is_done(found)) {
    state.done =
        done_mark{found.done_by, found.done_at,
                  std::chrono::duration_cast<std::chrono::microseconds>(found.done_until - now())};
  }
  return state;
}

}  // namespace rowlock::detail
