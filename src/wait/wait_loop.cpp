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

void waiting_room::ask(const waiters& heads) {
  std::vector<acquire_request> requests;
  requests.reserve(heads.size());
  for (const auto& head : heads) requests.push_back(head->wanted.request);
  detail::ask(
      rows_, requests, *time_,
      [&](part some, std::span<asked_request> asked, boot_clock::time_point asked_at) noexcept {
        note_faults(heads, some.begin, asked, asked_at);
        wait_ends ended;
        {
          const std::scoped_lock lock{mutex_};
          for (std::size_t i = 0; i < some.count; ++i) {
            settle(heads[some.begin + i], asked[i], asked_at, ended);
          }
        }
        ended.tell(taker_, asked_at);
      },
      [this] { return is_closed(); });
}

void waiting_room::settle(const std::shared_ptr<waiter>& head, asked_request& asked,
                          boot_clock::time_point asked_at, wait_ends& ended) {
  auto& [answer, fault] = asked;
  const auto& key = head->wanted.request.key;
  head->is_asked_for = false;
  if (fault != nullptr) {
    if (head->is_waiting && outlasts(head->policy, fault)) {
      settle_fault(key, fault, head.get(), ended);
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
  const auto place = lines_.find(key);
  if (place == lines_.end()) return;
  auto& line = place->second;
  if (answer.status == acquire_status::done) {
    // It has not been granted, and would be asked for without end if it stayed in doubt.
    head->is_in_doubt = false;
    ended.add(line.take_done(), refused, refusal_reason::already_done);
    line.ask_by(time_->now());  // for those to whom that makes no difference
    forget_if_empty(key);
    return;
  }
  const auto meanwhile = std::exchange(line.turns_of_somebody, 0);
  line.turns_of_others += meanwhile;
  if (auto* heard = heard_of(key)) heard->refused(meanwhile, line.turns_of_others);
  line.refused(std::move(refused), asked_at, time_->now(), head.get());
  ended.add_exhausted(line.take_exhausted(), line.last);
  forget_if_empty(key);
}

void waiting_room::was_granted(const lock_key& key) {
  const auto place = lines_.find(key);
  if (place == lines_.end()) return;
  for (const auto& each : place->second.waiting) each->forget_fault();
  place->second.turns_of_somebody = 0;
  const auto turns = std::exchange(place->second.turns_of_others, 0);
  if (auto* heard = heard_of(key)) heard->won(turns);
}

void waiting_room::look() {
  std::vector<lock_key> keys;
  {
    const std::scoped_lock lock{mutex_};
    last_look_ = time_->now();
    for (auto& [key, line] : lines_) {
      keys.push_back(key);
      line.forget_ask_at();
      line.forget_look_at();
    }
  }
  const auto tell = [this](const auto& settle_them) noexcept {
    wait_ends ended;
    {
      const std::scoped_lock lock{mutex_};
      settle_them(ended);
    }
    ended.tell(taker_, last_look_);
  };
  const std::span<const lock_key> all{keys};
  const auto give_up = [this] { return is_closed(); };
  by_halves(
      {.count = keys.size()},
      [&](part some) {
        const auto looked_at = some.of(all);
        const auto seen = watch(rows_, looked_at, give_up);
        outage_.answered();
        tell([&](wait_ends& ended) {
          for (std::size_t i = 0; i < some.count; ++i) settle(looked_at[i], seen[i], ended);
        });
      },
      [&](part some, const std::exception_ptr& fault) {
        std::size_t waited_for = 0;
        tell([&](wait_ends& ended) {
          for (const auto& key : some.of(all)) {
            if (settle_fault(key, fault, nullptr, ended)) ++waited_for;
          }
        });
        if (waited_for == 0) return;
        outage_.failed(waited_for, fault, time_->now());
        tell_outage(all[some.begin], waited_for, fault, last_look_);
      },
      give_up);
}

bool waiting_room::settle_fault(const lock_key& key, const std::exception_ptr& fault,
                                const waiter* asked, wait_ends& ended) {
  const auto place = lines_.find(key);
  if (place == lines_.end()) return false;
  auto& line = place->second;
  ended.add(line.take_failed(fault, time_->now(), asked), fault);
  ended.add_exhausted(line.take_exhausted(), line.last);
  const bool is_waited_for = !line.waiting.empty();
  forget_if_empty(key);
  return is_waited_for;
}

void waiting_room::note_faults(const waiters& heads, std::size_t begin,
                               std::span<const asked_request> asked,
                               boot_clock::time_point asked_at) {
  std::vector<std::size_t> in_vain;
  bool is_answered = false;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const auto& fault = asked[i].fault;
    is_answered = is_answered || fault == nullptr;
    if (fault != nullptr && outlasts(heads[begin + i]->policy, fault)) in_vain.push_back(i);
  }
  if (is_answered) outage_.answered();
  if (in_vain.empty()) return;
  const auto first = in_vain.front();
  if (!is_answered) outage_.failed(in_vain.size(), asked[first].fault, time_->now());
  tell_outage(heads[begin + first]->wanted.request.key, in_vain.size(), asked[first].fault,
              asked_at);
}

void waiting_room::tell_outage(const lock_key& first, std::size_t keys,
                               const std::exception_ptr& fault, boot_clock::time_point asked_at) {
  events_.tell_fault(fault_operation::acquire, first, keys, fault, time_->now() - asked_at);
}

void waiting_room::settle(const lock_key& key, const std::optional<row_state>& seen,
                          wait_ends& ended) {
  const auto place = lines_.find(key);
  if (place == lines_.end()) return;
  auto& line = place->second;
  const auto now = time_->now();
  if (!seen || !seen->is_live()) {
    ask_in_turn(line, now);
    return;
  }
  if (auto* heard = heard_of(key)) heard->watched(now);
  line.refused({.reason = refusal_reason::held,
                .key = key,
                .holder = seen->holder,
                .remaining = seen->remaining,
                .current = seen->version},
               last_look_, now);
  ended.add(line.take_stale(seen->version), line.last, refusal_reason::stale);
  if (seen->done) {
    ended.add(line.take_done(), {.key = key, .current = seen->version, .done = seen->done},
              refusal_reason::already_done);
  }
  // One whose time ended during this look is still to have its last try.
  if (line.ask_at() > now) ended.add_exhausted(line.take_exhausted(), line.last);
  forget_if_empty(key);
}

namespace {

using namespace std::chrono_literals;

/// So many holders in a row, and then other processes have a chance: time for one of them to hear
/// of the release and to ask for the row.
constexpr unsigned most_in_a_row = 64;
constexpr auto head_start = 5ms;

bool can_be_handed_over(const release_request& how) {
  return how.stay_closed == 0us && !how.done_for;
}

bool wants_it_as_it_is(const waiter& next) {
  const auto& request = next.wanted.request;
  return !next.is_asked_for && !request.expected && !request.unless_done;
}

}  // namespace

std::shared_ptr<waiter> waiting_room::take_next(const kept_lease& ended) {
  const auto place = lines_.find(ended.key);
  if (closed_ || place == lines_.end()) return nullptr;
  auto& line = place->second;
  if (ended.handed_over >= most_in_a_row) {
    line.give_way_until(time_->now() + head_start);
    return nullptr;
  }
  auto next = line.waiting.front();
  if (!wants_it_as_it_is(*next)) return nullptr;
  next->is_asked_for = true;
  return next;
}

std::optional<release_answer> waiting_room::hand_over(const kept_lease& ended,
                                                      const release_request& how) {
  if (!can_be_handed_over(how)) return std::nullopt;
  std::shared_ptr<waiter> next;
  {
    const std::scoped_lock lock{mutex_};
    next = take_next(ended);
  }
  if (next == nullptr) return std::nullopt;
  const auto asked_at = time_->now();
  hand_over_answer answer;
  try {
    answer = rows_.hand_over({how, next->wanted.request});
  } catch (...) {
    bool has_left = false;
    {
      const std::scoped_lock lock{mutex_};
      if (kind_of(std::current_exception()) == errc::outcome_unknown) {
        has_left = !next->is_waiting;
        if (!has_left) next->handed_by = how.version;
      }
      not_handed_over(*next);
    }
    if (has_left) taker_.give_back_if_granted(next->wanted, how.version);
    throw;
  }
  wait_ends granted;
  {
    const std::scoped_lock lock{mutex_};
    if (answer.granted) {
      next->is_asked_for = false;
      granted.add_grant(next, {.status = acquire_status::granted, .version = answer.granted},
                        take_out(*next), ended.handed_over + 1);
    } else {
      not_handed_over(*next);
    }
  }
  granted.tell(taker_, asked_at);
  return answer.ended;
}

void waiting_room::not_handed_over(waiter& next) {
  next.is_asked_for = false;
  const auto place = lines_.find(next.wanted.request.key);
  if (place == lines_.end()) return;
  place->second.ask_by(time_->now());
  wake_.notify_one();
}

}  // namespace rowlock::detail
