// The rows of an in-memory lock table.
#include "testing/memory_rows.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

namespace rowlock::detail {

std::string utc_now_text() {
  const auto now = std::chrono::system_clock::now();
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch() %
                                                                            std::chrono::seconds{1})
                          .count();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  std::array<char, 32> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S.", &utc);
  const std::string fraction = std::to_string(micros);
  return std::string{text.data(), size} + std::string(6 - fraction.size(), '0') + fraction;
}

std::unique_lock<std::mutex> memory_rows::enter() {
  home_.require();
  return std::unique_lock{mutex_};
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

void memory_rows::unset(memory_row& ended) const {
  move_version(ended);
  ended.owner.reset();
  ended.holder.clear();
  ended.acquired_at.clear();
  ended.expires_at = {};
}

memory_row* memory_rows::granted(const lock_key& key, const owner_id& owner, version seen) {
  const auto found = by_key.find(key);
  if (found == by_key.end() || found->second.owner != owner || found->second.version != seen) {
    return nullptr;
  }
  return &found->second;
}

void memory_rows::release(memory_row& held, const release_request& request) const {
  auto holder = std::move(held.holder);
  unset(held);
  if (request.failed) ++held.failure_count;
  if (request.stay_closed > std::chrono::microseconds::zero()) {
    held.holder = std::move(holder);
    held.expires_at = now() + request.stay_closed;
  }
  if (request.done_for) {
    held.done_by = request.version;
    held.done_at = utc_now_text();
    held.done_until = now() + *request.done_for;
  }
}

row_state memory_rows::state_of(const lock_key& key, const memory_row& found) const {
  row_state state{.key = key, .version = found.version, .owned = found.owner.has_value()};
  state.failure_count = found.failure_count;
  state.expiry_count = found.expiry_count;
  state.note = found.note;
  state.force_reason = found.force_reason;
  if (state.owned) state.acquired_at = found.acquired_at;
  if (state.owned || is_live(found)) {
    state.holder = found.holder;
    state.remaining = left_of(found);
  }
  if (is_done(found)) {
    state.done =
        done_mark{found.done_by, found.done_at,
                  std::chrono::duration_cast<std::chrono::microseconds>(found.done_until - now())};
  }
  return state;
}

}  // namespace rowlock::detail
