// Due calls for the waiters of all keys, and handling of their answers.
#include <algorithm>
#include <chrono>
#include <utility>

#include "base/pause.hpp"
#include "batch/doubt.hpp"
#include "wait/outage.hpp"
#include "wait/poll_pace.hpp"
#include "wait/wait_queue.hpp"

namespace rowlock::detail {

namespace {

using namespace std::chrono_literals;

constexpr auto never = boot_clock::time_point::max();

/// Time between two reads after a while without new waiters, if releases are announced.
constexpr auto between_reads = 600ms;

/// Between two reads that hints ask for: at most a fiftieth of the time is spent with such reads,
/// however often an application writes to a file that has the rows, too.
constexpr boot_clock::duration between_hinted_reads = 5ms;
constexpr int times_the_last_read = 50;

/// Of the tries since the last read, so many put off the next one. More would put it off for ever
/// while other rows are busy.
constexpr int most_counted_tries = 3;

/// After this many handoffs in a row other processes get a chance. `yield_time` is enough for one
/// of them to be notified of the release and to try.
constexpr unsigned longest_run = 64;
constexpr auto yield_time = 5ms;

bool is_live(const std::optional<row_state>& seen) { return seen && seen->is_live(); }

}  // namespace

void wait_queue::stop() {
  const checked_lock lock{mutex_};
  is_stopped_ = true;
  wake_.notify_one();
}

bool wait_queue::is_stopped() {
  const checked_lock lock{mutex_};
  return is_stopped_;
}

std::optional<wait_queue::work> wait_queue::await_work() {
  checked_lock lock{mutex_};
  is_in_call_ = false;
  while (!is_stopped_) {
    const auto now = time_->now();
    work due{.heads = take_due_heads(now)};
    const auto read_at = next_read(now);
    if (due.heads.empty() && read_at <= now) due.keys = take_keys(now);
    if (!due.heads.empty()) ++tries_since_read_;
    if (!due.heads.empty() || !due.keys.empty()) {
      is_in_call_ = true;
      return due;
    }
    const auto next = std::min(read_at, next_attempt());
    if (next == never) {
      wake_.wait(lock.native());
    } else {
      time_->wait_until(lock.native(), wake_, next);
    }
  }
  return std::nullopt;
}

waiters wait_queue::take_due_heads(boot_clock::time_point now) {
  if (outage_.is_on()) return take_one_due_head(now);
  waiters heads;
  while (tries_.first() <= now) {
    const auto& key = tries_.first_key();
    auto& queue = *queue_of(key);
    queue.forget_try_at();
    settle(key);
    auto& head = queue.waiting.front();
    // A handoff to it is in flight. A try now would grant the key twice under one owner, and
    // returning one of the grants would end both.
    if (head->is_being_tried) continue;
    take_head(queue, heads);
  }
  return heads;
}

void wait_queue::take_head(key_queue& queue, waiters& heads) {
  const auto& head = queue.waiting.front();
  head->is_being_tried = true;
  queue.freed_before_turn = queue.freed;
  if (head->turn) {
    ++tries_since_read_;
    head->turn();
  } else {
    heads.push_back(head);
  }
}

waiters wait_queue::take_one_due_head(boot_clock::time_point now) {
  const auto is_due = [&](const auto& each) {
    return each.second.next_probe() <= now && !each.second.waiting.front()->is_being_tried;
  };
  const auto after_last = queues_.upper_bound(last_tried_);
  auto due = std::find_if(after_last, queues_.end(), is_due);
  if (due == queues_.end()) due = std::find_if(queues_.begin(), after_last, is_due);
  if (due == queues_.end() || !outage_.may_try(now)) return {};
  last_tried_ = due->first;
  due->second.forget_try_at();
  due->second.forget_read_at();
  settle(due->first);
  waiters heads;
  take_head(due->second, heads);
  return heads;
}

std::vector<lock_key> wait_queue::take_keys(boot_clock::time_point now) {
  std::vector<lock_key> keys;
  keys.reserve(queues_.size());
  for (auto& [key, queue] : queues_) {
    if (queue.is_line) {
      keys.insert(keys.end(), queue.awaited.begin(), queue.awaited.end());
    } else {
      keys.push_back(key);
      queue.forget_try_at();
    }
    queue.forget_read_at();
    settle(key);
  }
  if (!awaiting_.empty()) {  // a row may be awaited by several queues
    std::ranges::sort(keys);
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  }
  last_read_ = now;
  tries_since_read_ = 0;
  has_changed_ = false;
  return keys;
}

boot_clock::time_point wait_queue::next_attempt() const {
  if (!outage_.is_on()) return tries_.first();
  auto next = never;
  for (const auto& [key, queue] : queues_) {
    if (!queue.waiting.front()->is_being_tried) next = std::min(next, queue.next_probe());
  }
  return next == never ? next : std::max(next, outage_.next_attempt());
}

boot_clock::time_point wait_queue::next_read(boot_clock::time_point now) const {
  if (outage_.is_on()) return never;
  auto next = reads_.first();
  if (next != never) next = std::max(next, last_read_ + reads_apart(now));
  if (!has_changed_) return next;
  return std::min(
      next, last_read_ + std::max(between_hinted_reads, times_the_last_read * last_read_took_));
}

boot_clock::duration wait_queue::reads_apart(boot_clock::time_point now) const {
  if (has_notifications_) {
    return std::min<boot_clock::duration>(between_reads, (now - last_new_queue_) / 2);
  }
  return shortest_poll_pause * (1 + std::min(tries_since_read_, most_counted_tries));
}

void wait_queue::poll(key_queue& queue, boot_clock::duration pause,
                      boot_clock::time_point now) const {
  if (!has_notifications_ && !queue.waiting.empty()) queue.poll_after(pause, now);
}

void wait_queue::answered(std::span<const std::shared_ptr<waiter>> heads,
                          std::span<acquire_result> results,
                          boot_clock::time_point tried_at) noexcept {
  pending_results ended;
  {
    const checked_lock lock{mutex_};
    for (std::size_t i = 0; i < heads.size(); ++i) answered(heads[i], results[i], tried_at, ended);
  }
  ended.deliver(sink_);
}

void wait_queue::answered(const std::shared_ptr<waiter>& head, acquire_result& result,
                          boot_clock::time_point tried_at, pending_results& ended) {
  const auto& key = head->request.key;
  head->is_being_tried = false;
  if (result.fault != nullptr) {
    if (head->is_waiting && outlasts(head->policy, result.fault)) {
      failed(key, result.fault, head.get(), ended);
    } else if (remove(*head)) {
      ended.add({head}, result.fault);
    } else if (!is_stopped_ && is_doubt(result.fault)) {
      ended.add_doubt(head);
    }
    return;
  }
  if (auto* queue = queue_of(key)) {
    const auto now = time_->now();
    queue->answered(head, std::move(result.answer), tried_at, now, backoff_of(key), ended);
    // Another caller was faster, so its hold is young; only tries show whether a row is busy.
    const bool is_busy = queue->last.reason == refusal_reason::busy;
    poll(*queue, is_busy ? longest_poll_pause : shortest_poll_pause, now);
    settle(key);
  } else if (result.answer.status == acquire_status::granted) {
    ended.add_unwanted(head, *result.answer.version);
  }
}

void wait_queue::were_read(std::span<const lock_key> keys,
                           std::span<const std::optional<row_state>> states) noexcept {
  pending_results ended;
  {
    const checked_lock lock{mutex_};
    last_read_took_ = time_->now() - last_read_;
    for (std::size_t i = 0; i < keys.size(); ++i) was_read(keys[i], states[i], ended);
  }
  ended.deliver(sink_);
}

void wait_queue::was_read(const lock_key& key, const std::optional<row_state>& seen,
                          pending_results& ended) {
  const auto now = time_->now();
  if (!is_live(seen)) {
    freed_for_lines(key, now);
  } else {
    for (const auto* of_several : awaiting(key)) {
      auto& line = *queue_of(*of_several);
      line.line_read_live(*seen, last_read_);
      if (has_notifications_) line.read_by(contention_backoff::mark_again_at(now));
      poll(line, poll_pause_after(*seen), now);
      settle(*of_several);
    }
  }
  auto* queue = queue_of(key);
  if (queue == nullptr) return;
  if (!is_live(seen)) {
    queue->read_free(now);
    schedule_try(*queue, now);
    return settle(key);
  }
  queue->read_live(*seen, last_read_, now, ended);
  poll(*queue, poll_pause_after(*seen), now);
  if (auto* backoff = backoff_of(key)) {
    backoff->marked(now);
    queue->read_by(backoff->read_by());
  }
  settle(key);
}

std::size_t wait_queue::read_failed(std::span<const lock_key> keys,
                                    const std::exception_ptr& fault) noexcept {
  pending_results ended;
  std::size_t waited_for = 0;
  {
    const checked_lock lock{mutex_};
    const auto now = time_->now();
    for (const auto& key : keys) {
      waited_for += failed(key, fault, nullptr, ended) ? 1 : 0;
      for (const auto* line : awaiting(key)) {
        queue_of(*line)->read_after_fault(now);
        settle(*line);
      }
    }
  }
  ended.deliver(sink_);
  return waited_for;
}

bool wait_queue::failed(const lock_key& key, const std::exception_ptr& fault,
                        const waiter* tried_one, pending_results& ended) {
  auto* queue = queue_of(key);
  if (queue == nullptr) return false;
  queue->failed(fault, time_->now(), tried_one, ended);
  const bool is_waited_for = !queue->waiting.empty();
  settle(key);
  return is_waited_for;
}

std::shared_ptr<waiter> wait_queue::begin_handoff(const lock_key& key, unsigned handoffs) {
  if (!has_waited_) return nullptr;
  const checked_lock lock{mutex_};
  auto* queue = queue_of(key);
  if (is_stopped_ || queue == nullptr) return nullptr;
  if (handoffs >= longest_run) {
    queue->yield_until(time_->now() + yield_time);
    settle(key);
    return nullptr;
  }
  auto next = queue->waiting.front();
  const auto& wanted = next->request;
  if (next->is_being_tried || wanted.expected || wanted.unless_done) return nullptr;
  next->is_being_tried = true;
  return next;
}

void wait_queue::end_handoff(const std::shared_ptr<waiter>& next, grant granted) {
  pending_results ended;
  {
    const checked_lock lock{mutex_};
    next->is_being_tried = false;
    if (remove(*next)) {
      ended.add(next, {.granted = std::move(granted)});
    } else {
      ended.add_unwanted(next, *granted.answer.version);
    }
  }
  ended.deliver(sink_);
}

void wait_queue::handoff_refused(waiter& next) {
  const checked_lock lock{mutex_};
  try_again(next);
}

void wait_queue::handoff_failed(const std::shared_ptr<waiter>& next,
                                const std::exception_ptr& fault, version handed_by) {
  bool is_left_in_doubt = false;
  {
    const checked_lock lock{mutex_};
    if (is_doubt(fault)) {
      is_left_in_doubt = !next->is_waiting;
      if (!is_left_in_doubt) next->handed_by = handed_by;
    }
    try_again(*next);
  }
  if (is_left_in_doubt) sink_.return_if_granted(next->request, handed_by);
}

void wait_queue::try_again(waiter& next) {
  next.is_being_tried = false;
  auto* queue = queue_of(next.request.key);
  if (queue == nullptr) return;
  queue->try_by(time_->now());
  settle(next.request.key);
  wake_.notify_one();
}

}  // namespace rowlock::detail
