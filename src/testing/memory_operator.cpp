// What an operator does to rows, on a map.
#include <string>

#include "rowlock/memory_store.hpp"
#include "testing/release_hints.hpp"

namespace rowlock {

hand_over_answer memory_store::hand_over(const hand_over_request& request) {
  check(request);
  const auto lock = enter();
  const auto& [ended, next] = request;
  row* held = granted_row(ended.key, ended.owner, ended.version);
  if (held == nullptr) return {.ended = release_answer::lost};
  if (held->locked_by != nullptr) return {.ended = release_answer::busy};
  if (ended.failed) ++held->failure_count;
  unset(*held);
  return {.ended = release_answer::released, .granted = acquire(next).version};
}

std::optional<std::string> memory_store::used_by(const lock_key& key) {
  check(key);
  const auto lock = enter();
  const auto found = rows_.find(key);
  const bool is_used =
      found != rows_.end() && found->second.is_committed && found->second.locked_by != nullptr;
  return is_used ? std::optional{std::string{"a transaction of this process"}} : std::nullopt;
}

force_answer memory_store::force_release(const force_request& request) {
  check(request);
  {
    const auto lock = enter();
    const auto found = rows_.find(request.key);
    if (found == rows_.end() || !found->second.is_committed) return force_answer::stale;
    row& taken = found->second;
    const bool is_somebodys = taken.owner || is_live(taken);
    if (taken.version != request.version || !is_somebodys) return force_answer::stale;
    if (taken.locked_by != nullptr) return force_answer::busy;
    unset(taken);
    taken.force_reason = request.reason;
  }
  announcements_->announce({request.key});
  return force_answer::released;
}

bool memory_store::is_idle(const row& found, std::chrono::microseconds older_than) const {
  return found.is_committed && found.locked_by == nullptr && !found.owner && !is_live(found) &&
         !is_done(found) && found.version.number < now_us() - older_than.count();
}

bool memory_store::is_needed(const lock_key& key) const {
  if (!key.type.ends_with("#0")) return false;
  const auto name = key.type.substr(0, key.type.size() - 1);
  for (int number = 1; number <= 1000; ++number) {
    if (rows_.contains({.type = name + std::to_string(number), .source_id = key.source_id})) {
      return true;
    }
  }
  return false;
}

purge_answer memory_store::purge(const purge_request& request) {
  check(request);
  const auto lock = enter();
  auto next = request.after ? rows_.upper_bound(*request.after) : rows_.begin();
  purge_answer answer;
  for (std::size_t looked = 0; next != rows_.end(); ++looked) {
    if (looked == request.at_most) return answer;
    answer.last = next->first;
    if (is_idle(next->second, request.older_than) && !is_needed(next->first)) {
      next = rows_.erase(next);
      ++answer.purged;
    } else {
      ++next;
    }
  }
  answer.last.reset();
  return answer;
}

}  // namespace rowlock
