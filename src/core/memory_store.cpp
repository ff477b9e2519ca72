// The rules of the port, on a map.
#include "rowlock/memory_store.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <new>
#include <utility>

#include "core/announcements.hpp"

namespace rowlock {

namespace {

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

}  // namespace

memory_store::memory_store(std::shared_ptr<time_source> time)
    : time_{std::move(time)}, announcements_{std::make_unique<detail::announcements>()} {}

std::unique_ptr<subscription> memory_store::listen(release_listener& listener) {
  return announcements_->listen(listener);
}

memory_store::~memory_store() {
  if (home_.is_here()) return;
  // Another thread may have been in the middle of a change when the parent forked.
  // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): on purpose, it is never destroyed
  static_cast<void>(new (std::nothrow) std::map<lock_key, row>{std::move(rows_)});
  static_cast<void>(announcements_.release());
}

std::unique_lock<std::mutex> memory_store::enter() {
  home_.require();
  return std::unique_lock{mutex_};
}

std::int64_t memory_store::now_us() const {
  return std::chrono::duration_cast<std::chrono::microseconds>(time_->now().time_since_epoch())
      .count();
}

std::chrono::microseconds memory_store::left_of(const row& found) const {
  return std::chrono::duration_cast<std::chrono::microseconds>(found.expires_at - time_->now());
}

bool memory_store::is_live(const row& found) const {
  return found.owner.has_value() && found.expires_at > time_->now();
}

void memory_store::move_version(row& moved) const {
  moved.version.number = std::max(moved.version.number + 1, now_us());
}

void memory_store::unset(row& ended) const {
  move_version(ended);
  ended.owner.reset();
  ended.holder.clear();
  ended.acquired_at.clear();
  ended.expires_at = {};
}

memory_store::row* memory_store::granted_row(const lock_key& key, const owner_id& owner,
                                             version seen) {
  const auto found = rows_.find(key);
  if (found == rows_.end() || found->second.owner != owner || found->second.version != seen) {
    return nullptr;
  }
  return &found->second;
}

acquire_answer memory_store::acquire(const acquire_request& request) {
  const auto found = rows_.find(request.key);
  const bool is_missing = found == rows_.end();
  if (!is_missing && !found->second.is_committed) return {.status = acquire_status::busy};
  if (is_missing && request.expected) return {.status = acquire_status::stale};

  row& wanted = is_missing ? rows_[request.key] : found->second;
  const bool is_mine = wanted.owner == request.owner;
  if (is_live(wanted) && is_mine && wanted.locked_by == nullptr) {
    wanted.expires_at = time_->now() + request.ttl;
    return {.status = acquire_status::granted, .version = wanted.version};
  }
  if (request.expected &&
      (wanted.version != *request.expected || (wanted.owner.has_value() && !is_live(wanted)))) {
    return {.status = acquire_status::stale, .version = wanted.version};
  }
  if (is_live(wanted) && !is_mine) {
    return {.status = acquire_status::held,
            .version = wanted.version,
            .holder = wanted.holder,
            .remaining = left_of(wanted)};
  }
  if (wanted.locked_by != nullptr) {
    return {.status = acquire_status::busy, .version = wanted.version};
  }
  acquire_answer answer{.status = acquire_status::granted};
  if (wanted.owner && !is_mine) {
    ++wanted.expiry_count;
    answer.took_over_expired = true;
    answer.holder = wanted.holder;
    answer.remaining = left_of(wanted);
  }
  move_version(wanted);
  answer.version = wanted.version;
  wanted.owner = request.owner;
  wanted.holder = request.holder;
  wanted.acquired_at = utc_now_text();
  wanted.expires_at = time_->now() + request.ttl;
  return answer;
}

std::vector<acquire_answer> memory_store::acquire(std::span<const acquire_request> requests) {
  for (const auto& request : requests) check(request);
  const auto lock = enter();
  std::vector<acquire_answer> answers;
  answers.reserve(requests.size());
  for (const auto& request : requests) answers.push_back(acquire(request));
  return answers;
}

std::vector<renew_answer> memory_store::renew(std::span<const renew_request> requests) {
  for (const auto& request : requests) check(request);
  const auto lock = enter();
  std::vector<renew_answer> answers;
  answers.reserve(requests.size());
  for (const auto& request : requests) {
    row* held = granted_row(request.key, request.owner, request.version);
    if (held == nullptr) {
      answers.push_back(renew_answer::lost);
    } else if (held->locked_by != nullptr) {
      answers.push_back(renew_answer::busy);
    } else {
      held->expires_at = time_->now() + request.ttl;
      answers.push_back(renew_answer::renewed);
    }
  }
  return answers;
}

std::vector<release_answer> memory_store::release(std::span<const release_request> requests) {
  for (const auto& request : requests) check(request);
  std::vector<lock_key> released;
  auto answers = release(requests, released);
  announcements_->announce(released);
  return answers;
}

std::vector<release_answer> memory_store::release(std::span<const release_request> requests,
                                                  std::vector<lock_key>& released) {
  const auto lock = enter();
  std::vector<release_answer> answers;
  answers.reserve(requests.size());
  for (const auto& request : requests) {
    row* held = granted_row(request.key, request.owner, request.version);
    if (held == nullptr) {
      answers.push_back(release_answer::lost);
    } else if (held->locked_by != nullptr) {
      answers.push_back(release_answer::busy);
    } else {
      unset(*held);
      if (request.failed) ++held->failure_count;
      answers.push_back(release_answer::released);
      released.push_back(request.key);
    }
  }
  return answers;
}

row_state memory_store::state_of(const lock_key& key, const row& found) const {
  row_state state{.key = key, .version = found.version, .owned = found.owner.has_value()};
  state.failure_count = found.failure_count;
  state.expiry_count = found.expiry_count;
  if (state.owned) {
    state.holder = found.holder;
    state.acquired_at = found.acquired_at;
    state.remaining = left_of(found);
  }
  return state;
}

std::vector<std::optional<row_state>> memory_store::read(std::span<const lock_key> keys) {
  for (const auto& key : keys) check(key);
  const auto lock = enter();
  std::vector<std::optional<row_state>> states;
  states.reserve(keys.size());
  for (const auto& key : keys) {
    const auto found = rows_.find(key);
    const bool is_there = found != rows_.end() && found->second.is_committed;
    states.push_back(is_there ? std::optional{state_of(key, found->second)} : std::nullopt);
  }
  return states;
}

std::vector<std::optional<row_state>> memory_store::prepare(std::span<const lock_key> keys) {
  for (const auto& key : keys) check(key);
  {
    const auto lock = enter();
    for (const auto& key : keys) {
      const auto [found, is_new] = rows_.try_emplace(key);
      row& prepared = found->second;
      if (is_new) {
        move_version(prepared);
      } else if (prepared.locked_by == nullptr && prepared.owner && !is_live(prepared)) {
        unset(prepared);
        ++prepared.expiry_count;
      }
    }
  }
  return read(keys);
}

std::vector<row_state> memory_store::list() {
  const auto lock = enter();
  std::vector<row_state> owned;
  for (const auto& [key, found] : rows_) {
    if (found.owner) owned.push_back(state_of(key, found));
  }
  return owned;
}

}  // namespace rowlock
