// The queues of all keys: waiters that come and leave, notifications.
#include "wait/wait_queue.hpp"

#include <algorithm>
#include <utility>

#include "base/threads.hpp"
#include "wait/outage.hpp"

namespace rowlock::detail {

namespace {

constexpr auto never = boot_clock::time_point::max();

/// Between two looks, when nobody has come for a while.
constexpr std::chrono::milliseconds between_reads{600};

}  // namespace

wait_queue::wait_queue(store& rows, std::shared_ptr<time_source> time, grant_sink sink,
                       outage& away, event_dispatcher& events)
    : rows_{rows}, time_{std::move(time)}, sink_{std::move(sink)}, outage_{away}, events_{events} {}

void wait_queue::start() {
  const std::scoped_lock lock{starting_};  // and not mutex_: the store may call us at once
  if (!thread_.joinable()) {
    start_thread("wait for keys with", [this] { thread_ = std::thread{[this] { run(); }}; });
  }
  if (!has_listened_) {
    subscription_ = rows_.listen(*this);
    has_listened_ = true;
  }
}

std::shared_ptr<waiter> wait_queue::join(lease_request wanted, retry_policy policy,
                                         const first_try& first,
                                         std::function<void(attempt_end)> done) {
  auto joining = std::make_shared<waiter>(std::move(wanted), std::move(policy), std::move(done));
  if (first.fault != nullptr) joining->failed(first.fault, true);
  start();
  const std::scoped_lock lock{mutex_};
  const auto now = time_->now();
  const auto& key = joining->wanted.request.key;
  const auto [place, is_new] = queues_.try_emplace(key);
  auto& queue = place->second;
  // It does not ask by itself, and the next answer may come after its time.
  const bool has_asked = first.refused || first.fault != nullptr;
  if (!is_new && !has_asked) joining->fault = queue.waiting.front()->fault;
  queue.join(joining, now);
  if (is_new) {
    last_new_queue_ = now;
    queue.last = {.reason = refusal_reason::busy, .key = key};
    if (first.refused) queue.refused(*first.refused, now, now);
    if (subscription_ != nullptr) track(key);
    if (first.fault != nullptr) {
      queue.try_by(joining->try_at);
    } else {
      if (subscription_ != nullptr) queue.read_by(now);  // so that the release is announced
      begin(queue, !first.refused, now);
    }
  } else if (joining->is_in_doubt) {
    queue.try_by(joining->try_at);
  }
  wake_.notify_one();
  return joining;
}

void wait_queue::forget_if_empty(const lock_key& key) {
  const auto place = queues_.find(key);
  if (place != queues_.end() && place->second.waiting.empty()) queues_.erase(place);
}

bool wait_queue::take_out(waiter& taken) {
  if (!std::exchange(taken.is_waiting, false)) return false;
  auto& queue = queues_.at(taken.wanted.request.key);
  const bool was_first = queue.waiting.front().get() == &taken;
  std::erase_if(queue.waiting, [&](const auto& each) { return each.get() == &taken; });
  if (was_first && !queue.waiting.empty()) {
    queue.moved_up(time_->now());
    wake_.notify_one();
  }
  forget_if_empty(taken.wanted.request.key);
  return true;
}

std::optional<wait_queue::departure> wait_queue::leave_queue(waiter& leaving) {
  if (!leaving.is_waiting) return std::nullopt;
  departure left{.last = queues_.at(leaving.wanted.request.key).last,
                 .is_unanswered = is_in_call_ || leaving.is_being_tried,
                 .is_being_tried = leaving.is_being_tried,
                 .handed_by = leaving.handed_by,
                 .fault = leaving.fault,
                 .is_in_doubt = leaving.is_in_doubt};
  take_out(leaving);
  return left;
}

std::optional<wait_queue::departure> wait_queue::leave(waiter& leaving) {
  const std::scoped_lock lock{mutex_};
  return leave_queue(leaving);
}

std::optional<wait_queue::departure> wait_queue::leave_after_last_try(waiter& leaving) {
  const std::scoped_lock lock{mutex_};
  leaving.is_time_over = true;
  if (!leaving.is_waiting || leaving.is_being_tried) return std::nullopt;
  const bool is_away = outage_.is_on() || (leaving.fault != nullptr && outage_.is_known());
  if (is_away) return leave_queue(leaving);
  auto& queue = queues_.at(leaving.wanted.request.key);
  if (queue.waiting.front().get() != &leaving) return leave_queue(leaving);
  queue.try_by(time_->now());
  wake_.notify_one();
  return std::nullopt;
}

void wait_queue::stop() {
  const std::scoped_lock lock{mutex_};
  closed_ = true;
  wake_.notify_one();
}

void wait_queue::close() {
  stop();
  subscription_.reset();
  if (thread_.joinable()) thread_.join();
}

bool wait_queue::is_closed() {
  const std::scoped_lock lock{mutex_};
  return closed_;
}

void wait_queue::run() {
  std::unique_lock lock{mutex_};
  while (!closed_) {
    const auto now = time_->now();
    const auto heads = take_due_heads(now);
    const auto read_at = next_read(now);
    if (!heads.empty() || read_at <= now) {
      is_in_call_ = true;
      lock.unlock();
      heads.empty() ? read_all() : try_heads(heads);
      lock.lock();
      is_in_call_ = false;
    } else {
      const auto next = std::min(read_at, next_attempt());
      if (next == never) {
        wake_.wait(lock);
      } else {
        time_->wait_until(lock, wake_, next);
      }
    }
  }
}

waiters wait_queue::take_due_heads(boot_clock::time_point now) {
  if (outage_.is_on()) return take_one_due_head(now);
  waiters heads;
  for (auto& [key, queue] : queues_) {
    if (queue.try_at() > now) continue;
    queue.forget_try_at();
    auto& head = queue.waiting.front();
    // Being handed the row: a second grant of it would be given back, and so the first one, too.
    if (head->is_being_tried) continue;
    head->is_being_tried = true;
    heads.push_back(head);
  }
  return heads;
}

waiters wait_queue::take_one_due_head(boot_clock::time_point now) {
  const auto is_due = [&](const auto& each) {
    return each.second.next_try() <= now && !each.second.waiting.front()->is_being_tried;
  };
  const auto after_last = queues_.upper_bound(last_tried_);
  auto due = std::find_if(after_last, queues_.end(), is_due);
  if (due == queues_.end()) due = std::find_if(queues_.begin(), after_last, is_due);
  if (due == queues_.end() || !outage_.may_try(now)) return {};
  last_tried_ = due->first;
  due->second.forget_try_at();
  const auto& head = due->second.waiting.front();
  head->is_being_tried = true;
  return {head};
}

boot_clock::time_point wait_queue::next_attempt() const {
  const bool is_away = outage_.is_on();
  auto next = never;
  for (const auto& [key, queue] : queues_) {
    if (!is_away) {
      next = std::min(next, queue.try_at());
    } else if (!queue.waiting.front()->is_being_tried) {
      next = std::min(next, queue.next_try());
    }
  }
  return is_away && next != never ? std::max(next, outage_.next_attempt()) : next;
}

boot_clock::time_point wait_queue::next_read(boot_clock::time_point now) const {
  if (outage_.is_on()) return never;
  auto next = never;
  for (const auto& [key, queue] : queues_) next = std::min(next, queue.read_at());
  if (next == never) return next;
  const auto apart = std::min<boot_clock::duration>(between_reads, (now - last_new_queue_) / 2);
  return std::max(next, last_read_ + apart);
}

namespace {

/// Of so many keys it is remembered what was heard. What is forgotten costs statements, no more.
constexpr std::size_t most_tracked_keys = 1024;

refusal held_as_notified(const lock_key& key, const contention_backoff& backoff,
                         boot_clock::time_point now) {
  return {.reason = refusal_reason::held,
          .key = key,
          .remaining =
              std::chrono::duration_cast<std::chrono::microseconds>(backoff.taken_until() - now)};
}

}  // namespace

bool wait_queue::must_wait(const lock_key& key) {
  const std::scoped_lock lock{mutex_};
  if (queues_.contains(key)) return true;
  const auto* backoff = backoff_of(key);
  const auto now = time_->now();
  return backoff != nullptr && (backoff->is_taken(now) || backoff->should_defer(now));
}

contention_backoff* wait_queue::backoff_of(const lock_key& key) {
  const auto found = backoffs_.find(key);
  return found == backoffs_.end() ? nullptr : &found->second;
}

void wait_queue::track(const lock_key& key) {
  if (backoffs_.size() >= most_tracked_keys) backoffs_.clear();
  backoffs_.try_emplace(key);
}

void wait_queue::begin(key_queue& queue, bool is_first_try_due, boot_clock::time_point now) {
  auto& first = *queue.waiting.front();
  const auto& key = first.wanted.request.key;
  const auto* backoff = backoff_of(key);
  const bool is_taken = backoff != nullptr && backoff->is_taken(now);
  if (is_taken) queue.suppress_reads_until(backoff->reads_suppressed_until(), backoff->read_by());
  if (!is_first_try_due) return;
  queue.forget_try_at();
  if (is_taken) {
    queue.refused(held_as_notified(key, *backoff, now), now, now);
  } else {
    first.tries = 0;  // this is going to be its first try
    try_in_turn(queue, now);
  }
}

void wait_queue::try_in_turn(key_queue& queue, boot_clock::time_point now) {
  const auto* backoff = backoff_of(queue.waiting.front()->wanted.request.key);
  if (backoff == nullptr) return queue.try_by(now);
  const auto turn = std::max(now, backoff->try_after(queue.grants_to_others));
  queue.try_by(turn);
  if (turn > now) queue.suppress_reads_until(turn, std::max(turn, backoff->read_by()));
}

void wait_queue::released(const lock_key& key) noexcept {
  const std::scoped_lock lock{mutex_};
  const auto now = time_->now();
  if (auto* backoff = backoff_of(key)) backoff->released(now);
  const auto found = queues_.find(key);
  if (found == queues_.end()) return;
  try_in_turn(found->second, now);
  wake_.notify_one();
}

void wait_queue::taken(const lock_key& key, const grant_times& lasts) noexcept {
  const std::scoped_lock lock{mutex_};
  auto* backoff = backoff_of(key);
  if (backoff == nullptr) return;
  const auto now = time_->now();
  backoff->taken(now, lasts);
  const auto found = queues_.find(key);
  if (found == queues_.end()) return;
  auto& queue = found->second;
  if (backoff->is_taken(now))
    queue.suppress_reads_until(backoff->reads_suppressed_until(), backoff->read_by());
  if (queue.waiting.front()->is_being_tried) {
    ++queue.grants_unattributed;
    return;
  }
  ++queue.grants_to_others;
  // The answer to a last try is the end of a wait.
  if (!queue.waiting.front()->is_time_over) queue.forget_try_at();
  queue.refused(held_as_notified(key, *backoff, now), now, now);
  wake_.notify_one();
}

void wait_queue::listening() noexcept {
  const std::scoped_lock lock{mutex_};
  for (auto& [key, backoff] : backoffs_) backoff.reset();
  for (auto& [key, queue] : queues_) queue.read_by(time_->now());
  wake_.notify_one();
}

}  // namespace rowlock::detail
