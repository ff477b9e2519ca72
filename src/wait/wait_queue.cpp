// Wait queues of all keys: waiters that join and leave, and notifications.
#include "wait/wait_queue.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <new>
#include <utility>

#include "base/faults.hpp"
#include "wait/outage.hpp"
#include "wait/poll_pace.hpp"

namespace rowlock::detail {

namespace {

/// Forgetting the tracked keys only costs statements.
constexpr std::size_t most_tracked_keys = 1024;

std::chrono::microseconds remaining(const contention_backoff& backoff, boot_clock::time_point now) {
  return std::chrono::duration_cast<std::chrono::microseconds>(backoff.taken_until() - now);
}

}  // namespace

wait_queue::wait_queue(std::shared_ptr<time_source> time, grant_sink sink, outage& away)
    : time_{std::move(time)}, sink_{std::move(sink)}, outage_{away} {}

bool wait_queue::must_wait(const lock_key& key) {
  if (!has_waited_) return false;
  const checked_lock lock{mutex_};
  if (queues_.contains(key)) return true;
  const auto* backoff = backoff_of(key);
  const auto now = time_->now();
  return backoff != nullptr && (backoff->is_taken(now) || backoff->should_defer(now));
}

std::shared_ptr<waiter> wait_queue::join(acquire_request wanted, retry_policy policy,
                                         const try_result& first,
                                         std::function<void(wait_result)> done,
                                         std::function<void()> turn, std::vector<lock_key> awaited,
                                         bool asks) {
  auto joining = std::make_shared<waiter>(std::move(wanted), std::move(policy), std::move(done),
                                          std::move(turn), asks);
  if (first.fault != nullptr) joining->failed(first.fault, true);
  joining->keeps_rows = first.keeps_rows;
  const checked_lock lock{mutex_};
  has_waited_ = true;
  const auto now = time_->now();
  const auto& key = joining->request.key;
  const auto [place, is_new] = queues_.try_emplace(key);
  auto& queue = place->second;
  // A waiter behind the head makes no try, and its time may end before the next answer.
  const bool has_tried = first.refused || first.fault != nullptr;
  if (!is_new && !has_tried) joining->fault = queue.waiting.front()->fault;
  try {
    if (is_new) {
      tries_.add(place->first);
      reads_.add(place->first);
    }
    if (is_new || first.keeps_rows) await_rows(place->first, queue, std::move(awaited));
    queue.join(joining, now);
  } catch (const std::bad_alloc&) {
    if (is_new) forget(place);
    throw;
  }
  if (is_new) {
    last_new_queue_ = now;
    queue.last = {.reason = refusal_reason::busy, .key = key};
    if (first.refused) queue.refused_first(*first.refused, now);
    if (has_notifications_ && !queue.is_line) track(key);
    if (first.fault != nullptr) {
      queue.try_by(joining->try_at);
    } else {
      if (has_notifications_) queue.read_by(now);  // so that the release is announced
      begin(queue, !first.refused, now);
    }
  } else if (joining->is_in_doubt || first.keeps_rows) {
    queue.try_by(joining->try_at);
  }
  settle(key);
  wake_.notify_one();
  return joining;
}

std::optional<std::string> wait_queue::asker_for(const lock_key& row) {
  const checked_lock lock{mutex_};
  const auto label_in = [](const key_queue& queue) -> std::optional<std::string> {
    for (const auto& one : queue.waiting) {
      if (one->asks) return one->request.holder;
    }
    return std::nullopt;
  };
  if (const auto* queue = queue_of(row)) {
    if (auto label = label_in(*queue)) return label;
  }
  for (const auto* key : awaiting(row)) {
    if (auto label = label_in(*queue_of(*key))) return label;
  }
  return std::nullopt;
}

void wait_queue::begin(key_queue& queue, bool is_first_try_due, boot_clock::time_point now) {
  auto& first = *queue.waiting.front();
  const auto* backoff = backoff_of(first.request.key);
  const bool is_taken = backoff != nullptr && backoff->is_taken(now);
  if (is_taken) queue.suppress_reads_until(backoff->reads_suppressed_until(), backoff->read_by());
  if (!is_first_try_due) return;
  queue.forget_try_at();
  if (is_taken) {
    queue.taken(remaining(*backoff, now), now);
  } else {
    first.tries = 0;  // the next try is its first
    schedule_try(queue, now);
  }
}

void wait_queue::schedule_try(key_queue& queue, boot_clock::time_point now) {
  const auto* backoff = backoff_of(queue.waiting.front()->request.key);
  if (backoff == nullptr) return queue.try_by(now);
  const auto at = std::max(now, backoff->try_after(queue.grants_to_others));
  queue.try_by(at);
  if (at > now) queue.suppress_reads_until(at, std::max(at, backoff->read_by()));
}

contention_backoff* wait_queue::backoff_of(const lock_key& key) {
  const auto found = backoffs_.find(key);
  return found == backoffs_.end() ? nullptr : &found->second;
}

void wait_queue::track(const lock_key& key) {
  if (backoffs_.size() >= most_tracked_keys) backoffs_.clear();
  backoffs_.try_emplace(key);
}

key_queue* wait_queue::queue_of(const lock_key& key) {
  const auto found = queues_.find(key);
  return found == queues_.end() ? nullptr : &found->second;
}

void wait_queue::forget(std::map<lock_key, key_queue>::iterator place) {
  tries_.erase(place->first, place->second.indexed_try);
  reads_.erase(place->first, place->second.indexed_read);
  for (const auto& row : place->second.awaited) awaiting_.erase({row, &place->first});
  queues_.erase(place);
}

void wait_queue::await_rows(const lock_key& key, key_queue& queue, std::vector<lock_key> rows) {
  if (has_notifications_) queue.read_by(time_->now());  // so that the releases are announced
  std::ranges::sort(rows);
  if (rows == queue.awaited) return;
  for (const auto& row : queue.awaited) awaiting_.erase({row, &key});
  queue.awaited = std::move(rows);
  for (const auto& row : queue.awaited) awaiting_.emplace(row, &key);
}

std::vector<const lock_key*> wait_queue::awaiting(const lock_key& row) const {
  std::vector<const lock_key*> keys;
  for (auto each = awaiting_.lower_bound({row, nullptr});
       each != awaiting_.end() && each->first == row; ++each) {
    keys.push_back(each->second);
  }
  return keys;
}

void wait_queue::freed_for_lines(const lock_key& row, boot_clock::time_point now) {
  for (const auto* key : awaiting(row)) {
    auto& queue = *queue_of(*key);
    ++queue.freed;
    queue.read_free(now);
    schedule_try(queue, now);
    settle(*key);
    wake_.notify_one();
  }
}

void wait_queue::settle(const lock_key& key) {
  const auto place = queues_.find(key);
  if (place == queues_.end()) return;
  auto& [indexed, queue] = *place;
  if (queue.waiting.empty()) {
    forget(place);
  } else {
    tries_.move(indexed, queue.indexed_try, queue.try_at());
    reads_.move(indexed, queue.indexed_read, queue.read_at());
  }
}

bool wait_queue::remove(waiter& leaving) {
  auto* queue = queue_of(leaving.request.key);
  if (queue == nullptr || !queue->remove(leaving, time_->now())) return false;
  settle(leaving.request.key);
  wake_.notify_one();
  return true;
}

std::optional<wait_queue::departure> wait_queue::depart(waiter& leaving) {
  if (!leaving.is_waiting) return std::nullopt;
  departure left{.last = queue_of(leaving.request.key)->last,
                 .is_unanswered = is_in_call_ || leaving.is_being_tried,
                 .is_being_tried = leaving.is_being_tried && !leaving.turn,
                 .handed_by = leaving.handed_by,
                 .fault = leaving.fault == nullptr ? nullptr : copied_fault(leaving.fault),
                 .is_in_doubt = leaving.is_in_doubt};
  remove(leaving);
  return left;
}

std::optional<wait_queue::departure> wait_queue::leave(waiter& leaving) {
  const checked_lock lock{mutex_};
  return depart(leaving);
}

void wait_queue::withdraw(waiter& leaving, std::span<const lock_key> taken) noexcept {
  const checked_lock lock{mutex_};
  const auto& key = leaving.request.key;
  auto* queue = queue_of(key);
  if (queue == nullptr) return;
  const auto was_awaited = [queue](const lock_key& row) {
    return std::ranges::binary_search(queue->awaited, row);
  };
  const auto used = static_cast<std::size_t>(std::ranges::count_if(taken, was_awaited));
  const bool was_announced = queue->freed > 0;
  const bool are_all_known = !queue->awaited.empty() && used == queue->awaited.size();
  if (was_announced && used > 0) --queue->freed;
  remove(leaving);
  queue = queue_of(key);
  if (queue == nullptr || taken.empty() || was_announced || are_all_known) return;
  queue->try_by(time_->now());  // other rows may be free, too
  settle(key);
  wake_.notify_one();
}

std::optional<wait_queue::departure> wait_queue::leave_after_last_try(waiter& leaving) {
  const checked_lock lock{mutex_};
  leaving.is_time_over = true;
  if (!leaving.is_waiting || leaving.is_being_tried) return std::nullopt;
  const bool is_away = outage_.is_on() || (leaving.fault != nullptr && outage_.is_known());
  if (is_away) return depart(leaving);
  auto& queue = *queue_of(leaving.request.key);
  // In a line the first tries for all: of several rows, more than it takes may be free.
  const auto& first = *queue.waiting.front();
  if (&first != &leaving && !queue.is_line) return depart(leaving);
  if (!first.is_being_tried) queue.try_by(time_->now());
  settle(leaving.request.key);
  wake_.notify_one();
  return std::nullopt;
}

void wait_queue::use_notifications() {
  const checked_lock lock{mutex_};
  has_notifications_ = true;
}

void wait_queue::released(const lock_key& key) {
  if (!has_waited_) return;
  const checked_lock lock{mutex_};
  const auto now = time_->now();
  if (auto* backoff = backoff_of(key)) backoff->released(now);
  freed_for_lines(key, now);
  auto* queue = queue_of(key);
  if (queue == nullptr) return;
  schedule_try(*queue, now);
  settle(key);
  wake_.notify_one();
}

bool wait_queue::changed() {
  if (!has_waited_) return false;
  const checked_lock lock{mutex_};
  if (queues_.empty()) return false;
  has_changed_ = true;
  wake_.notify_one();
  return true;
}

void wait_queue::report_try(const std::shared_ptr<waiter>& one, const try_result& how,
                            std::vector<lock_key> awaited, boot_clock::time_point tried_at) {
  pending_results ended;
  {
    const checked_lock lock{mutex_};
    one->is_being_tried = false;
    if (!one->is_waiting) return;
    const auto place = queues_.find(one->request.key);
    one->keeps_rows = how.keeps_rows;
    if (one->keeps_rows) place->second.bring_to_front(one);
    const bool is_head = place->second.waiting.front() == one;
    if (is_head && how.refused) await_rows(place->first, place->second, std::move(awaited));
    was_tried(place->second, *one, how, tried_at, ended);
    wake_.notify_one();
  }
  ended.deliver(sink_);
}

void wait_queue::was_tried(key_queue& queue, const waiter& one, const try_result& how,
                           boot_clock::time_point tried_at, pending_results& ended) noexcept {
  const auto& key = one.request.key;
  if (how.fault != nullptr) {
    failed(key, how.fault, &one, ended);
  } else {
    const auto now = time_->now();
    queue.line_refused(*how.refused, one, tried_at, now, ended);
    poll(queue, shortest_poll_pause, now);
    settle(key);
  }
}

void wait_queue::taken(const lock_key& key, const release_listener::grant_times& lasts) {
  const checked_lock lock{mutex_};
  auto* backoff = backoff_of(key);
  if (backoff == nullptr) return;
  const auto now = time_->now();
  backoff->taken(now, lasts);
  auto* queue = queue_of(key);
  if (queue == nullptr) return;
  if (backoff->is_taken(now)) {
    queue->suppress_reads_until(backoff->reads_suppressed_until(), backoff->read_by());
  }
  if (queue->waiting.front()->is_being_tried) {
    ++queue->grants_unattributed;
    return settle(key);
  }
  ++queue->grants_to_others;
  // A head whose time is over still needs the answer to its last try.
  if (!queue->waiting.front()->is_time_over) queue->forget_try_at();
  queue->taken(remaining(*backoff, now), now);
  settle(key);
  wake_.notify_one();
}

void wait_queue::listening() {
  const checked_lock lock{mutex_};
  for (auto& [key, backoff] : backoffs_) backoff.reset();
  for (auto& [key, queue] : queues_) {
    queue.read_by(time_->now());
    settle(key);
  }
  wake_.notify_one();
}

}  // namespace rowlock::detail
