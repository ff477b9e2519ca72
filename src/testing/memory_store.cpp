// An in-memory store, the model for tests of all other stores.
#include "rowlock/testing/memory_store.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <new>
#include <string>
#include <utility>

#include "testing/release_hints.hpp"

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
    : time_{std::move(time)}, hints_{std::make_unique<detail::release_hints>()} {}

std::unique_ptr<subscription> memory_store::do_listen(release_listener& listener) {
  return hints_->listen(listener);
}

memory_store::~memory_store() {
  if (home().is_here()) return;
  // The parent may have forked while another thread was changing the map.
  // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): on purpose, it is never destroyed
  static_cast<void>(new (std::nothrow) std::map<lock_key, row>{std::move(rows_)});
  static_cast<void>(hints_.release());
}

std::unique_lock<std::mutex> memory_store::enter() {
  home().require();
  return std::unique_lock{mutex_};
}

std::int64_t memory_store::now_us() const {
  return std::chrono::duration_cast<std::chrono::microseconds>(time_->now().time_since_epoch())
      .count();
}

std::chrono::microseconds memory_store::left_of(const row& found) const {
  return std::chrono::duration_cast<std::chrono::microseconds>(found.expires_at - time_->now());
}

bool memory_store::is_live(const row& found) const { return found.expires_at > time_->now(); }

bool memory_store::is_done(const row& found) const { return found.done_until > time_->now(); }

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

bool memory_store::is_mine(const acquire_request& request) const {
  const auto found = rows_.find(request.key);
  return found != rows_.end() && found->second.owner == request.owner && is_live(found->second);
}

acquire_answer memory_store::answer_to(const acquire_request& request) const {
  const auto found = rows_.find(request.key);
  if (found == rows_.end()) {
    return {.status = request.expected ? acquire_status::stale : acquire_status::granted};
  }
  const row& wanted = found->second;
  if (!wanted.is_committed) return {.status = acquire_status::busy};
  const bool is_live_and_mine = is_mine(request);
  if (is_live_and_mine && wanted.locked_by == nullptr) {
    return {.status = acquire_status::granted, .version = wanted.version};
  }
  if (request.expected &&
      (wanted.version != *request.expected || (wanted.owner.has_value() && !is_live(wanted)))) {
    return {.status = acquire_status::stale, .version = wanted.version};
  }
  if (request.unless_done && is_done(wanted) && !is_live_and_mine) {
    return {.status = acquire_status::done,
            .version = wanted.version,
            .done = state_of(request.key, wanted).done};
  }
  if (is_live(wanted) && !is_live_and_mine) {
    return {.status = acquire_status::held,
            .version = wanted.version,
            .holder = wanted.holder,
            .remaining = left_of(wanted)};
  }
  if (wanted.locked_by != nullptr) {
    return {.status = acquire_status::busy, .version = wanted.version};
  }
  return {.status = acquire_status::granted};
}

acquire_answer memory_store::try_to_grant(const acquire_request& request) {
  auto answer = answer_to(request);
  if (answer.status != acquire_status::granted) return answer;
  row& granted = rows_[request.key];
  if (!is_mine(request)) {
    if (granted.owner && granted.owner != request.owner) {
      ++granted.expiry_count;
      answer.took_over_expired = true;
      answer.holder = granted.holder;
      answer.remaining = left_of(granted);
    }
    move_version(granted);
    answer.version = granted.version;
    granted.owner = request.owner;
    granted.holder = request.holder;
    granted.acquired_at = utc_now_text();
  }
  granted.expires_at = time_->now() + request.ttl;
  return answer;
}

std::vector<acquire_answer> memory_store::do_acquire(std::span<const acquire_request> requests,
                                                     acquire_mode mode) {
  const auto lock = enter();
  switch (mode.how) {
    case acquire_mode::all_or_none:
      return acquire_all(requests);
    case acquire_mode::any:
      return acquire_any(requests, mode.at_most);
    case acquire_mode::each:
      break;
  }
  return acquire_each(requests);
}

std::vector<acquire_answer> memory_store::acquire_each(std::span<const acquire_request> requests) {
  std::vector<acquire_answer> answers;
  answers.reserve(requests.size());
  for (const auto& request : requests) answers.push_back(try_to_grant(request));
  return answers;
}

std::vector<change_answer> memory_store::do_renew(std::span<const renew_request> requests) {
  const auto lock = enter();
  std::vector<change_answer> answers;
  answers.reserve(requests.size());
  for (const auto& request : requests) {
    row* held = granted_row(request.key, request.owner, request.version);
    if (held == nullptr) {
      answers.push_back(change_answer::lost);
    } else if (held->locked_by != nullptr) {
      answers.push_back(change_answer::busy);
    } else {
      held->expires_at = time_->now() + request.ttl;
      answers.push_back(change_answer::done);
    }
  }
  return answers;
}

std::vector<change_answer> memory_store::do_release(std::span<const release_request> requests) {
  std::vector<lock_key> released;
  auto answers = release_each(requests, released);
  hints_->announce(released);
  return answers;
}

std::vector<change_answer> memory_store::release_each(std::span<const release_request> requests,
                                                      std::vector<lock_key>& released) {
  const auto lock = enter();
  std::vector<change_answer> answers;
  answers.reserve(requests.size());
  for (const auto& request : requests) {
    row* held = granted_row(request.key, request.owner, request.version);
    if (held == nullptr) {
      answers.push_back(change_answer::lost);
    } else if (held->locked_by != nullptr) {
      answers.push_back(change_answer::busy);
    } else {
      release_row(*held, request);
      answers.push_back(change_answer::done);
      released.push_back(request.key);
    }
  }
  return answers;
}

void memory_store::release_row(row& held, const release_request& request) const {
  auto holder = std::move(held.holder);
  unset(held);
  if (request.failed) ++held.failure_count;
  if (request.stay_closed > std::chrono::microseconds::zero()) {
    held.holder = std::move(holder);
    held.expires_at = time_->now() + request.stay_closed;
  }
  if (request.done_for) {
    held.done_by = request.version;
    held.done_at = utc_now_text();
    held.done_until = time_->now() + *request.done_for;
  }
}

change_answer memory_store::do_write_note(const note_request& request) {
  const auto lock = enter();
  row* held = granted_row(request.key, request.owner, request.version);
  if (held == nullptr) return change_answer::lost;
  if (held->locked_by != nullptr) return change_answer::busy;
  held->note = request.note;
  return change_answer::done;
}

row_state memory_store::state_of(const lock_key& key, const row& found) const {
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
    state.done = done_mark{
        found.done_by, found.done_at,
        std::chrono::duration_cast<std::chrono::microseconds>(found.done_until - time_->now())};
  }
  return state;
}

std::vector<std::optional<row_state>> memory_store::do_read(std::span<const lock_key> keys,
                                                            read_mode mode) {
  const auto lock = enter();
  if (mode == read_mode::ready_to_commit) make_ready(keys);
  std::vector<std::optional<row_state>> states;
  states.reserve(keys.size());
  for (const auto& key : keys) {
    auto& state = states.emplace_back();
    const auto found = rows_.find(key);
    if (found == rows_.end() || !found->second.is_committed) continue;
    state = state_of(key, found->second);
    if (mode == read_mode::shown && found->second.locked_by != nullptr) {
      state->used_by = "a transaction of this process";
    }
  }
  return states;
}

void memory_store::make_ready(std::span<const lock_key> keys) {
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

std::vector<row_state> memory_store::do_list() {
  const auto lock = enter();
  std::vector<row_state> owned;
  for (const auto& [key, found] : rows_) {
    if (found.owner || is_live(found)) owned.push_back(state_of(key, found));
  }
  return owned;
}

std::vector<acquire_answer> memory_store::acquire_all(std::span<const acquire_request> requests) {
  std::vector<acquire_answer> answers;
  answers.reserve(requests.size());
  for (const auto& request : requests) answers.push_back(answer_to(request));
  const bool are_granted = std::all_of(answers.begin(), answers.end(), [](const auto& answer) {
    return answer.status == acquire_status::granted;
  });
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (are_granted) {
      answers[i] = try_to_grant(requests[i]);
    } else if (answers[i].status == acquire_status::granted) {
      answers[i] = {.status = acquire_status::withheld};
    }
  }
  return answers;
}

std::vector<acquire_answer> memory_store::acquire_any(std::span<const acquire_request> requests,
                                                      std::size_t at_most) {
  std::vector<acquire_answer> answers(requests.size(), {.status = acquire_status::withheld});
  std::size_t granted = 0;
  const auto grant_if = [&](const auto& condition) {
    for (std::size_t i = 0; i < requests.size() && granted < at_most; ++i) {
      if (answers[i].status == acquire_status::granted || !condition(requests[i])) continue;
      if (answer_to(requests[i]).status != acquire_status::granted) continue;
      answers[i] = try_to_grant(requests[i]);
      ++granted;
    }
  };
  grant_if([this](const acquire_request& request) { return is_mine(request); });
  grant_if([this](const acquire_request& request) { return rows_.contains(request.key); });
  grant_if([](const acquire_request&) { return true; });
  return answers;
}

handoff_answer memory_store::do_handoff(const handoff_request& request) {
  const auto lock = enter();
  const auto& [ended, next] = request;
  row* held = granted_row(ended.key, ended.owner, ended.version);
  if (held == nullptr) return {.ended = change_answer::lost};
  if (held->locked_by != nullptr) return {.ended = change_answer::busy};
  if (ended.failed) ++held->failure_count;
  unset(*held);
  return {.ended = change_answer::done, .granted = try_to_grant(next).version};
}

force_answer memory_store::do_force_release(const force_request& request) {
  {
    const auto lock = enter();
    const auto found = rows_.find(request.key);
    if (found == rows_.end() || !found->second.is_committed) return force_answer::stale;
    row& taken = found->second;
    const bool is_taken = taken.owner || is_live(taken);
    if (taken.version != request.version || !is_taken) return force_answer::stale;
    if (taken.locked_by != nullptr) return force_answer::busy;
    unset(taken);
    taken.force_reason = request.reason;
  }
  hints_->announce({request.key});
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

purge_answer memory_store::do_purge(const purge_request& request) {
  const auto lock = enter();
  auto next = request.after ? rows_.upper_bound(*request.after) : rows_.begin();
  purge_answer answer;
  for (std::size_t checked = 0; next != rows_.end(); ++checked) {
    if (checked == request.at_most) return answer;
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
