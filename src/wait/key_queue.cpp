// The queue of one process's waiters for one key, or for the same several rows.
#include "wait/key_queue.hpp"

#include <algorithm>
#include <utility>

#include "base/pause.hpp"
#include "batch/doubt.hpp"
#include "batch/statement_batcher.hpp"
#include "wait/contention_backoff.hpp"
#include "wait/pending_results.hpp"

namespace rowlock::detail {

namespace {

/// How long notifications alone may say that the row is taken. Twice as long as one of them is
/// believed, so that true ones spare nearly all reads.
constexpr std::chrono::seconds longest_unread{2};

/// Before the next read, however long the pauses are: the failed call may have been the one that
/// was to find the row free.
constexpr std::chrono::seconds after_fault{1};

/// In a line, the end of another waiter's pause lets the head try, so long after the last try at
/// least: as reads of keys are apart.
constexpr std::chrono::milliseconds between_tries{600};

}  // namespace

void waiter::tried(boot_clock::time_point now) {
  ++tries;
  pause = next_pause(policy, pause);
  try_at = now + pause;
}

void waiter::failed(const std::exception_ptr& why, bool was_own_try) {
  if (is_in_doubt) return;  // keep the fault that caused the doubt
  fault = why;
  is_in_doubt = was_own_try && is_doubt(why);
}

void waiter::forget_fault() {
  if (!is_in_doubt) fault = nullptr;
}

void key_queue::join(std::shared_ptr<waiter> joining, boot_clock::time_point now) {
  joining->tried(now);
  if (waiting.empty()) answered_at_ = now;
  is_line = joining->turn != nullptr;
  if (joining->policy.attempts) reads_suppressed_until_ = boot_clock::time_point::min();
  next_try_ = std::min(next_try_, joining->try_at);
  if (is_line && !waiting.empty()) try_by(std::max(joining->try_at, now + between_tries));
  if (!joining->is_in_doubt && !joining->keeps_rows) {
    waiting.push_back(std::move(joining));
    return;
  }
  const bool is_second = !joining->keeps_rows && !waiting.empty() && waiting.front()->keeps_rows;
  waiting.insert(waiting.begin() + (is_second ? 1 : 0), std::move(joining));
}

void key_queue::bring_to_front(const std::shared_ptr<waiter>& first) {
  const auto place = std::find(waiting.begin(), waiting.end(), first);
  std::rotate(waiting.begin(), place, place + 1);
}

void key_queue::try_by(boot_clock::time_point when) { try_at_ = std::min(try_at_, when); }

void key_queue::read_by(boot_clock::time_point when) { read_at_ = std::min(read_at_, when); }

void key_queue::read_after_fault(boot_clock::time_point now) { read_by(now + after_fault); }

void key_queue::suppress_reads_until(boot_clock::time_point when, boot_clock::time_point read_by) {
  if (has_limited_attempts()) return;
  const auto latest = answered_at_ + longest_unread;
  reads_suppressed_until_ = std::min(when, latest);
  read_at_ = std::min(read_by, latest);
}

void key_queue::poll_after(boot_clock::duration pause, boot_clock::time_point now) {
  const auto pause_of = [](const auto& each) { return each->policy.first_pause; };
  const auto shortest = std::ranges::min_element(waiting, {}, pause_of);
  const auto when =
      now + std::max<boot_clock::duration>(pause, bounded((*shortest)->policy.first_pause));
  read_by(when);
  if (!has_limited_attempts()) reads_suppressed_until_ = when;
}

bool key_queue::has_limited_attempts() const {
  return std::ranges::any_of(waiting,
                             [](const auto& each) { return each->policy.attempts.has_value(); });
}

void key_queue::answered(const std::shared_ptr<waiter>& head, acquire_answer answer,
                         boot_clock::time_point tried_at, boot_clock::time_point now,
                         contention_backoff* backoff, pending_results& ended) {
  answered_at_ = now;
  if (answer.status == acquire_status::granted) {
    for (const auto& each : waiting) each->forget_fault();
    grants_unattributed = 0;
    const auto grants = std::exchange(grants_to_others, 0);
    if (backoff != nullptr) backoff->granted(grants, now - tried_at);
    if (remove(*head, now)) {
      ended.add(head, {.granted = grant{std::move(answer), tried_at}});
    } else {
      ended.add_unwanted(head, *answer.version);
    }
    return;
  }
  // The row has another version, so a handoff in doubt can no longer grant it.
  if (answer.version && head->handed_by != answer.version) head->handed_by.reset();
  auto why = to_refusal(head->request.key, answer);
  if (answer.status == acquire_status::stale) {
    if (remove(*head, now)) ended.add(head, {.refused = std::move(why)});
    return;
  }
  if (answer.status == acquire_status::done) {
    // The head was not granted; if it stayed in doubt, it would be tried forever.
    head->is_in_doubt = false;
    end_done(std::move(why), ended);
    try_by(now);  // for waiters without `unless_done`
    return;
  }
  const auto meanwhile = std::exchange(grants_unattributed, 0);
  grants_to_others += meanwhile;
  if (backoff != nullptr) backoff->refused(meanwhile, grants_to_others);
  refused(std::move(why), tried_at, now, head.get());
  end_exhausted(now, ended);
}

void key_queue::line_refused(refusal why, const waiter& tried_one, boot_clock::time_point tried_at,
                             boot_clock::time_point now, pending_results& ended) {
  answered_at_ = now;
  if (&tried_one == waiting.front().get()) freed -= std::min(freed, freed_before_turn);
  refused(std::move(why), tried_at, now, &tried_one);
  end_exhausted(now, ended);
}

void key_queue::line_read_live(const row_state& seen, boot_clock::time_point read_began) {
  const refusal held{.reason = refusal_reason::held, .key = seen.key, .remaining = seen.remaining};
  if (const auto chance = next_chance(held)) try_by(read_began + *chance);
}

void key_queue::read_live(const row_state& seen, boot_clock::time_point read_began,
                          boot_clock::time_point now, pending_results& ended) {
  answered_at_ = now;
  refused({.reason = refusal_reason::held,
           .key = seen.key,
           .holder = seen.holder,
           .remaining = seen.remaining,
           .current = seen.version},
          read_began, now, nullptr);
  const auto is_stale = [&](const waiter& each) {
    return !each.is_in_doubt && each.request.expected && each.request.expected != seen.version;
  };
  ended.add(take_if(is_stale), last, refusal_reason::stale);
  if (seen.done) end_done({.key = seen.key, .current = seen.version, .done = seen.done}, ended);
  // A waiter whose time ended during this read still gets its last try.
  if (try_at() > now) end_exhausted(now, ended);
}

void key_queue::taken(std::optional<std::chrono::microseconds> remaining,
                      boot_clock::time_point now) {
  refused(
      {.reason = refusal_reason::held, .key = waiting.front()->request.key, .remaining = remaining},
      now, now, nullptr);
}

void key_queue::refused(refusal why, boot_clock::time_point began, boot_clock::time_point now,
                        const waiter* tried_one) {
  last = std::move(why);
  const bool is_busy = last.reason == refusal_reason::busy;
  bool is_resolved = false;
  for (const auto& each : waiting) {
    // A busy row resolves no doubt: the statement in doubt may be what keeps it busy.
    if (each.get() == tried_one && !is_busy) is_resolved = std::exchange(each->is_in_doubt, false);
    each->forget_fault();
  }
  try_those_due(now, tried_one);
  if (is_resolved && !is_line) {
    // The lease that was found may belong to another waiter in doubt.
    const auto is_in_doubt = [](const auto& each) { return each->is_in_doubt; };
    std::stable_partition(waiting.begin(), waiting.end(), is_in_doubt);
    if (waiting.front()->is_in_doubt) try_by(now);
  }
  // If the row is busy, or may be granted to the head, only another try shows whether it is free.
  const bool must_try = is_busy || is_line || waiting.front()->is_in_doubt;
  if (must_try) try_by(waiting.front()->try_at);
  if (is_line) try_by(std::max(next_try_, now + between_tries));
  if (const auto chance = next_chance(last)) try_by(began + *chance);
}

void key_queue::failed(const std::exception_ptr& why, boot_clock::time_point now,
                       const waiter* tried_one, pending_results& ended) {
  reads_suppressed_until_ = boot_clock::time_point::min();
  for (const auto& each : waiting) {
    if (outlasts(each->policy, why)) each->failed(why, each.get() == tried_one);
  }
  try_those_due(now, tried_one);
  const auto ends = [&](const waiter& each) {
    return (tried_one == nullptr || &each == tried_one) && !outlasts(each.policy, why);
  };
  ended.add(take_if(ends), why);
  const bool tries_on = !waiting.empty() && (tried_one != nullptr || waiting.front()->is_in_doubt);
  if (tries_on) try_by(waiting.front()->try_at);
  read_after_fault(now);
  end_exhausted(now, ended);
}

void key_queue::try_those_due(boot_clock::time_point now, const waiter* tried_one) {
  next_try_ = boot_clock::time_point::max();
  for (const auto& each : waiting) {
    if (each.get() == tried_one || each->try_at <= now) each->tried(now);
    next_try_ = std::min(next_try_, each->try_at);
  }
}

void key_queue::moved_up(boot_clock::time_point now) {
  const auto is_over = [](const auto& each) { return each->is_time_over; };
  if (freed > 0 || (is_line && std::ranges::any_of(waiting, is_over))) try_by(now);
  const auto soon = now + next_pause(waiting.front()->policy, {});
  is_line ? try_by(soon) : read_by(soon);
}

bool key_queue::remove(waiter& leaving, boot_clock::time_point now) {
  if (!std::exchange(leaving.is_waiting, false)) return false;
  const bool was_head = waiting.front().get() == &leaving;
  std::erase_if(waiting, [&](const auto& each) { return each.get() == &leaving; });
  if (was_head && !waiting.empty()) moved_up(now);
  return true;
}

void key_queue::end_exhausted(boot_clock::time_point now, pending_results& ended) {
  const auto first = waiting.empty() ? nullptr : waiting.front();
  auto timed_out = last;
  timed_out.reason = refusal_reason::timed_out;
  for (const auto& each : take_if([](const waiter& one) { return one.is_exhausted(); })) {
    // The fault of its last try is newer than the last refusal.
    ended.add(each, each->fault == nullptr ? wait_result{.refused = timed_out}
                                           : wait_result{.fault = copied_fault(each->fault)});
  }
  if (is_line && !waiting.empty() && waiting.front() != first) moved_up(now);
}

void key_queue::end_done(refusal why, pending_results& ended) {
  const auto ends = [](const waiter& each) {
    return !each.is_in_doubt && each.request.unless_done;
  };
  ended.add(take_if(ends), std::move(why), refusal_reason::already_done);
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
