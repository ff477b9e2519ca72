// Those of one process who wait for one key.
#include "wait/key_queue.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/faults.hpp"
#include "base/pause.hpp"
#include "rowlock/error.hpp"

namespace rowlock::detail {

attempt_end granted_too_late() {
  return {.fault = std::make_exception_ptr(error{
              errc::unavailable,
              "the database granted the lease, but answered only after the lease's own "
              "deadline: it was given back; raise the ttl, or see why the database is slow"})};
}

void waiter::tried(boot_clock::time_point now) {
  ++tries;
  pause = next_pause(policy, pause);
  try_at = now + pause;
}

void waiter::failed(const std::exception_ptr& why, bool tried_one) {
  if (is_in_doubt) return;  // the first fault says more
  fault = why;
  is_in_doubt = tried_one && kind_of(why) == errc::outcome_unknown;
}

void waiter::forget_fault() {
  if (!is_in_doubt) fault = nullptr;
}

void key_queue::join(std::shared_ptr<waiter> joining, boot_clock::time_point now) {
  joining->tried(now);
  if (joining->policy.attempts) reads_suppressed_until_ = boot_clock::time_point::min();
  next_try_ = std::min(next_try_, joining->try_at);
  if (joining->is_in_doubt) {
    waiting.push_front(std::move(joining));
  } else {
    waiting.push_back(std::move(joining));
  }
}

void key_queue::try_by(boot_clock::time_point when) { try_at_ = std::min(try_at_, when); }

void key_queue::read_by(boot_clock::time_point when) { read_at_ = std::min(read_at_, when); }

void key_queue::suppress_reads_until(boot_clock::time_point when, boot_clock::time_point read_by) {
  const auto counts = [](const auto& each) { return each->policy.attempts.has_value(); };
  if (std::any_of(waiting.begin(), waiting.end(), counts)) return;
  reads_suppressed_until_ = when;
  read_at_ = read_by;
}

void key_queue::refused(refusal why, boot_clock::time_point started_at, boot_clock::time_point now,
                        const waiter* tried_one) {
  last = std::move(why);
  const bool is_busy = last.reason == refusal_reason::busy;
  bool is_resolved = false;
  for (const auto& each : waiting) {
    // The statement in doubt may be what makes the row busy.
    if (each.get() == tried_one && !is_busy) is_resolved = std::exchange(each->is_in_doubt, false);
    each->forget_fault();
  }
  try_those_due(now, tried_one);
  if (is_resolved) {
    // The lease that was found may be that of another one in doubt.
    const auto is_in_doubt = [](const auto& each) { return each->is_in_doubt; };
    std::stable_partition(waiting.begin(), waiting.end(), is_in_doubt);
    if (waiting.front()->is_in_doubt) try_by(now);
  }
  // Of a busy row, and of one that may be ours, only another try tells whether it is free.
  if (is_busy || waiting.front()->is_in_doubt) try_by(waiting.front()->try_at);
  if (const auto chance = next_chance(last)) try_by(started_at + *chance);
}

waiters key_queue::take_failed(const std::exception_ptr& why, boot_clock::time_point now,
                               const waiter* tried_one) {
  reads_suppressed_until_ = boot_clock::time_point::min();
  for (const auto& each : waiting) {
    if (outlasts(each->policy, why)) each->failed(why, each.get() == tried_one);
  }
  try_those_due(now, tried_one);
  const auto ends = [&](const waiter& each) {
    return (tried_one == nullptr || &each == tried_one) && !outlasts(each.policy, why);
  };
  auto taken = take_if(ends);
  const bool asks_on = !waiting.empty() && (tried_one != nullptr || waiting.front()->is_in_doubt);
  if (asks_on) try_by(waiting.front()->try_at);
  return taken;
}

void key_queue::try_those_due(boot_clock::time_point now, const waiter* tried_one) {
  next_try_ = boot_clock::time_point::max();
  for (const auto& each : waiting) {
    if (each.get() == tried_one || each->try_at <= now) each->tried(now);
    next_try_ = std::min(next_try_, each->try_at);
  }
}

void key_queue::moved_up(boot_clock::time_point now) {
  read_by(now + next_pause(waiting.front()->policy, {}));
}

waiters key_queue::take_exhausted() {
  return take_if([](const waiter& each) { return each.is_exhausted(); });
}

waiters key_queue::take_stale(version current) {
  return take_if([current](const waiter& each) {
    return !each.is_in_doubt && each.wanted.request.expected &&
           each.wanted.request.expected != current;
  });
}

waiters key_queue::take_done() {
  return take_if(
      [](const waiter& each) { return !each.is_in_doubt && each.wanted.request.unless_done; });
}

template <class Condition>
waiters key_queue::take_if(const Condition& condition) {
  waiters taken;
  std::erase_if(waiting, [&](const auto& each) {
    if (!condition(*each)) return false;
    each->is_waiting = false;
    taken.push_back(each);
    return true;
  });
  return taken;
}

}  // namespace rowlock::detail
