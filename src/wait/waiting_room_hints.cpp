// What a waiting room hears from the store, and what that means to those who wait.
#include <algorithm>

#include "wait/wait_queue.hpp"

namespace rowlock::detail {

namespace {

/// Of so many keys it is remembered what was heard. What is forgotten costs statements, no more.
constexpr std::size_t most_heard_of = 1024;

refusal held_as_heard(const lock_key& key, const hearsay& heard, boot_clock::time_point now) {
  return {.reason = refusal_reason::held,
          .key = key,
          .remaining =
              std::chrono::duration_cast<std::chrono::microseconds>(heard.taken_until() - now)};
}

}  // namespace

bool waiting_room::has_to_wait(const lock_key& key) {
  const std::scoped_lock lock{mutex_};
  if (lines_.contains(key)) return true;
  const auto* heard = heard_of(key);
  const auto now = time_->now();
  return heard != nullptr && (heard->is_taken(now) || heard->is_turn_of_others(now));
}

hearsay* waiting_room::heard_of(const lock_key& key) {
  const auto found = heard_.find(key);
  return found == heard_.end() ? nullptr : &found->second;
}

void waiting_room::hear_of(const lock_key& key) {
  if (heard_.size() >= most_heard_of) heard_.clear();
  heard_.try_emplace(key);
}

void waiting_room::begin(waiting_line& line, bool has_not_asked, boot_clock::time_point now) {
  auto& first = *line.waiting.front();
  const auto& key = first.wanted.request.key;
  const auto* heard = heard_of(key);
  const bool is_taken = heard != nullptr && heard->is_taken(now);
  if (is_taken) line.be_quiet_until(heard->quiet_until(), heard->look_by());
  if (!has_not_asked) return;
  line.forget_ask_at();
  if (is_taken) {
    line.refused(held_as_heard(key, *heard, now), now, now);
  } else {
    first.tries = 0;  // this is going to be its first try
    ask_in_turn(line, now);
  }
}

void waiting_room::ask_in_turn(waiting_line& line, boot_clock::time_point now) {
  const auto* heard = heard_of(line.waiting.front()->wanted.request.key);
  if (heard == nullptr) return line.ask_by(now);
  const auto turn = std::max(now, heard->turn_after(line.turns_of_others));
  line.ask_by(turn);
  if (turn > now) line.be_quiet_until(turn, std::max(turn, heard->look_by()));
}

void waiting_room::released(const lock_key& key) noexcept {
  const std::scoped_lock lock{mutex_};
  const auto now = time_->now();
  if (auto* heard = heard_of(key)) heard->released(now);
  const auto found = lines_.find(key);
  if (found == lines_.end()) return;
  ask_in_turn(found->second, now);
  wake_.notify_one();
}

void waiting_room::taken(const lock_key& key, const grant_times& lasts) noexcept {
  const std::scoped_lock lock{mutex_};
  auto* heard = heard_of(key);
  if (heard == nullptr) return;
  const auto now = time_->now();
  heard->taken(now, lasts);
  const auto found = lines_.find(key);
  if (found == lines_.end()) return;
  auto& line = found->second;
  if (heard->is_taken(now)) line.be_quiet_until(heard->quiet_until(), heard->look_by());
  if (line.waiting.front()->is_asked_for) {
    ++line.turns_of_somebody;
    return;
  }
  ++line.turns_of_others;
  // The answer to a last try is the end of a wait.
  if (!line.waiting.front()->is_time_over) line.forget_ask_at();
  line.refused(held_as_heard(key, *heard, now), now, now);
  wake_.notify_one();
}

void waiting_room::listening() noexcept {
  const std::scoped_lock lock{mutex_};
  for (auto& [key, heard] : heard_) heard.missed();
  for (auto& [key, line] : lines_) line.look_by(time_->now());
  wake_.notify_one();
}

}  // namespace rowlock::detail
