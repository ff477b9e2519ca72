// The thread of the waiters: its calls of the store, handoffs, and what the answers mean.
#include "wait/wait_loop.hpp"

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/faults.hpp"
#include "base/pause.hpp"
#include "batch/bisect.hpp"
#include "lease/event_dispatcher.hpp"
#include "rowlock/error.hpp"
#include "wait/outage.hpp"
#include "wait/wait_queue.hpp"

namespace rowlock::detail {

namespace {

/// A connection that has ended may be one of several: for one key, too, a look is made once more.
std::vector<std::optional<row_state>> watch(store& rows, std::span<const lock_key> keys,
                                            const std::function<bool()>& give_up) {
  if (keys.size() > 1) return rows.watch(keys);
  try {
    return rows.watch(keys);
  } catch (const error& thrown) {
    const bool is_in_vain = thrown.kind() == errc::rejected || thrown.kind() == errc::misuse;
    if (is_in_vain || give_up()) throw;
  }
  return rows.watch(keys);
}

}  // namespace

void wait_queue::try_heads(const waiters& heads) {
  std::vector<acquire_request> requests;
  requests.reserve(heads.size());
  for (const auto& head : heads) requests.push_back(head->wanted.request);
  detail::acquire_each(
      rows_, requests, *time_,
      [&](slice some, std::span<acquire_result> tried_one,
          boot_clock::time_point tried_at) noexcept {
        note_faults(heads, some.begin, tried_one, tried_at);
        pending_results ended;
        {
          const std::scoped_lock lock{mutex_};
          for (std::size_t i = 0; i < some.count; ++i) {
            answered(heads[some.begin + i], tried_one[i], tried_at, ended);
          }
        }
        ended.deliver(sink_, tried_at);
      },
      [this] { return is_closed(); });
}

void wait_queue::answered(const std::shared_ptr<waiter>& head, acquire_result& tried_one,
                          boot_clock::time_point tried_at, pending_results& ended) {
  auto& [answer, fault] = tried_one;
  const auto& key = head->wanted.request.key;
  head->is_being_tried = false;
  if (fault != nullptr) {
    if (head->is_waiting && outlasts(head->policy, fault)) {
      failed_for(key, fault, head.get(), ended);
    } else if (take_out(*head)) {
      ended.add({head}, fault);
    } else if (!closed_ && kind_of(fault) == errc::outcome_unknown) {
      ended.add_doubt(head);
    }
    return;
  }
  if (answer.status == acquire_status::granted) {
    was_granted(key);
    ended.add_grant(head, answer, take_out(*head));
    return;
  }
  // The row has moved on, so nothing is handed over any more.
  if (answer.version && head->handed_by != answer.version) head->handed_by.reset();
  auto refused = to_refusal(key, answer);
  if (answer.status == acquire_status::stale) {
    if (take_out(*head)) ended.add(head, {.refused = std::move(refused)});
    return;
  }
  const auto place = queues_.find(key);
  if (place == queues_.end()) return;
  auto& queue = place->second;
  if (answer.status == acquire_status::done) {
    // It has not been granted, and would be asked for without end if it stayed in doubt.
    head->is_in_doubt = false;
    ended.add(queue.take_done(), refused, refusal_reason::already_done);
    queue.try_by(time_->now());  // for those to whom that makes no difference
    forget_if_empty(key);
    return;
  }
  const auto meanwhile = std::exchange(queue.grants_unattributed, 0);
  queue.grants_to_others += meanwhile;
  if (auto* backoff = backoff_of(key)) backoff->refused(meanwhile, queue.grants_to_others);
  queue.refused(std::move(refused), tried_at, time_->now(), head.get());
  ended.add_exhausted(queue.take_exhausted(), queue.last);
  forget_if_empty(key);
}

void wait_queue::was_granted(const lock_key& key) {
  const auto place = queues_.find(key);
  if (place == queues_.end()) return;
  for (const auto& each : place->second.waiting) each->forget_fault();
  place->second.grants_unattributed = 0;
  const auto grants = std::exchange(place->second.grants_to_others, 0);
  if (auto* backoff = backoff_of(key)) backoff->granted(grants);
}

void wait_queue::read_all() {
  std::vector<lock_key> keys;
  {
    const std::scoped_lock lock{mutex_};
    last_read_ = time_->now();
    for (auto& [key, queue] : queues_) {
      keys.push_back(key);
      queue.forget_try_at();
      queue.forget_read_at();
    }
  }
  const auto deliver = [this](const auto& settle) noexcept {
    pending_results ended;
    {
      const std::scoped_lock lock{mutex_};
      settle(ended);
    }
    ended.deliver(sink_, last_read_);
  };
  const std::span<const lock_key> all{keys};
  const auto give_up = [this] { return is_closed(); };
  bisect(
      {.count = keys.size()},
      [&](slice some) {
        const auto read_keys = some.of(all);
        const auto seen = watch(rows_, read_keys, give_up);
        outage_.answered();
        deliver([&](pending_results& ended) {
          for (std::size_t i = 0; i < some.count; ++i) answered(read_keys[i], seen[i], ended);
        });
      },
      [&](slice some, const std::exception_ptr& fault) {
        std::size_t waited_for = 0;
        deliver([&](pending_results& ended) {
          for (const auto& key : some.of(all)) {
            if (failed_for(key, fault, nullptr, ended)) ++waited_for;
          }
        });
        if (waited_for == 0) return;
        outage_.failed(waited_for, fault, time_->now());
        emit_fault(all[some.begin], waited_for, fault, last_read_);
      },
      give_up);
}

bool wait_queue::failed_for(const lock_key& key, const std::exception_ptr& fault,
                            const waiter* tried_one, pending_results& ended) {
  const auto place = queues_.find(key);
  if (place == queues_.end()) return false;
  auto& queue = place->second;
  ended.add(queue.take_failed(fault, time_->now(), tried_one), fault);
  ended.add_exhausted(queue.take_exhausted(), queue.last);
  const bool is_waited_for = !queue.waiting.empty();
  forget_if_empty(key);
  return is_waited_for;
}

void wait_queue::note_faults(const waiters& heads, std::size_t begin,
                             std::span<const acquire_result> tried_one,
                             boot_clock::time_point tried_at) {
  std::vector<std::size_t> in_vain;
  bool is_answered = false;
  for (std::size_t i = 0; i < tried_one.size(); ++i) {
    const auto& fault = tried_one[i].fault;
    is_answered = is_answered || fault == nullptr;
    if (fault != nullptr && outlasts(heads[begin + i]->policy, fault)) in_vain.push_back(i);
  }
  if (is_answered) outage_.answered();
  if (in_vain.empty()) return;
  const auto first = in_vain.front();
  if (!is_answered) outage_.failed(in_vain.size(), tried_one[first].fault, time_->now());
  emit_fault(heads[begin + first]->wanted.request.key, in_vain.size(), tried_one[first].fault,
             tried_at);
}

void wait_queue::emit_fault(const lock_key& first, std::size_t keys,
                            const std::exception_ptr& fault, boot_clock::time_point tried_at) {
  events_.emit_fault(fault_operation::acquire, first, keys, fault, time_->now() - tried_at);
}

void wait_queue::answered(const lock_key& key, const std::optional<row_state>& seen,
                          pending_results& ended) {
  const auto place = queues_.find(key);
  if (place == queues_.end()) return;
  auto& queue = place->second;
  const auto now = time_->now();
  if (!seen || !seen->is_live()) {
    try_in_turn(queue, now);
    return;
  }
  if (auto* backoff = backoff_of(key)) backoff->marked(now);
  queue.refused({.reason = refusal_reason::held,
                 .key = key,
                 .holder = seen->holder,
                 .remaining = seen->remaining,
                 .current = seen->version},
                last_read_, now);
  ended.add(queue.take_stale(seen->version), queue.last, refusal_reason::stale);
  if (seen->done) {
    ended.add(queue.take_done(), {.key = key, .current = seen->version, .done = seen->done},
              refusal_reason::already_done);
  }
  // One whose time ended during this look is still to have its last try.
  if (queue.try_at() > now) ended.add_exhausted(queue.take_exhausted(), queue.last);
  forget_if_empty(key);
}

namespace {

using namespace std::chrono_literals;

/// So many holders in a row, and then other processes have a chance: time for one of them to hear
/// of the release and to ask for the row.
constexpr unsigned longest_run = 64;
constexpr auto yield_time = 5ms;

bool can_be_handed_off(const release_request& how) {
  return how.stay_closed == 0us && !how.done_for;
}

bool wants_it_as_it_is(const waiter& next) {
  const auto& request = next.wanted.request;
  return !next.is_being_tried && !request.expected && !request.unless_done;
}

}  // namespace

std::shared_ptr<waiter> wait_queue::take_next(const lease_state& ended) {
  const auto place = queues_.find(ended.key);
  if (closed_ || place == queues_.end()) return nullptr;
  auto& queue = place->second;
  if (ended.handoffs >= longest_run) {
    queue.yield_until(time_->now() + yield_time);
    return nullptr;
  }
  auto next = queue.waiting.front();
  if (!wants_it_as_it_is(*next)) return nullptr;
  next->is_being_tried = true;
  return next;
}

std::optional<release_answer> wait_queue::handoff(const lease_state& ended,
                                                  const release_request& how) {
  if (!can_be_handed_off(how)) return std::nullopt;
  std::shared_ptr<waiter> next;
  {
    const std::scoped_lock lock{mutex_};
    next = take_next(ended);
  }
  if (next == nullptr) return std::nullopt;
  const auto tried_at = time_->now();
  handoff_answer answer;
  try {
    answer = rows_.handoff({how, next->wanted.request});
  } catch (...) {
    bool has_left = false;
    {
      const std::scoped_lock lock{mutex_};
      if (kind_of(std::current_exception()) == errc::outcome_unknown) {
        has_left = !next->is_waiting;
        if (!has_left) next->handed_by = how.version;
      }
      handoff_failed(*next);
    }
    if (has_left) sink_.return_if_granted(next->wanted, how.version);
    throw;
  }
  pending_results granted;
  {
    const std::scoped_lock lock{mutex_};
    if (answer.granted) {
      next->is_being_tried = false;
      granted.add_grant(next, {.status = acquire_status::granted, .version = answer.granted},
                        take_out(*next), ended.handoffs + 1);
    } else {
      handoff_failed(*next);
    }
  }
  granted.deliver(sink_, tried_at);
  return answer.ended;
}

void wait_queue::handoff_failed(waiter& next) {
  next.is_being_tried = false;
  const auto place = queues_.find(next.wanted.request.key);
  if (place == queues_.end()) return;
  place->second.try_by(time_->now());
  wake_.notify_one();
}

}  // namespace rowlock::detail
