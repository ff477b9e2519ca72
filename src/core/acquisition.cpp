// One attempt of a calling thread to acquire a key.
#include "core/acquisition.hpp"

#include <memory>
#include <optional>
#include <utility>

#include "core/asking.hpp"
#include "core/blocked_caller.hpp"
#include "core/either_stop.hpp"
#include "core/next_pause.hpp"

namespace rowlock::detail {

namespace {

wait_end refused_as(refusal_reason reason, refusal last) {
  last.reason = reason;
  return {.refused = std::move(last)};
}

wait_end ask_once(keeper& leases, store& rows, const wanted_lease& wanted) {
  const auto& request = wanted.request;
  const auto asked_at = leases.now();
  auto [answer, fault] = ask(rows, {&request, 1}).front();
  if (fault != nullptr) return {.fault = fault};
  if (answer.status != acquire_status::granted) return {.refused = to_refusal(request.key, answer)};
  if (auto kept = leases.keep(wanted, answer, asked_at)) {
    return {.granted = std::move(kept)};
  }
  return too_late();
}

bool can_wait(const retry_policy& wait) {
  const bool has_time = !wait.give_up_after || wait.give_up_after->count() > 0;
  return has_time && wait.attempts != 1U;
}

/// Of an end that is worth a wait.
bool is_contention(const wait_end& end) {
  return end.refused && (end.refused->reason == refusal_reason::held ||
                         end.refused->reason == refusal_reason::busy);
}

/// `waits_since` is set when it begins to wait in line.
wait_end ask_and_wait(keeper& leases, const keeper::visit& here, const wanted_lease& wanted,
                      const retry_policy& wait,
                      std::optional<boot_clock::time_point>& waits_since) {
  leases.start_threads();
  const auto until = wait.give_up_after ? leases.now() + bounded(*wait.give_up_after)
                                        : boot_clock::time_point::max();
  auto& room = leases.waiting();
  std::optional<refusal> last;
  if (!can_wait(wait) || !room.has_line(wanted.request.key)) {
    auto end = ask_once(leases, here.rows(), wanted);
    if (!is_contention(end)) return end;
    if (wait.stop.stop_requested()) return refused_as(refusal_reason::stopped, *end.refused);
    if (!can_wait(wait)) return end;
    last = std::move(end.refused);
  }

  waits_since = leases.now();
  const either_stop stop{wait.stop, leases.closing()};
  const auto caller = std::make_shared<blocked_caller>();
  const auto joined =
      room.join(wanted, wait, last, [caller](wait_end how) { caller->answer(std::move(how)); });
  if (auto end = caller->wait(leases.time(), until, stop.token())) return *std::move(end);
  auto left = room.leave(*joined);
  if (!left) return caller->wait();
  if (stop.token().stop_requested()) return refused_as(refusal_reason::stopped, left->last);
  if (left->was_next) {
    auto end = ask_once(leases, here.rows(), wanted);
    if (!is_contention(end)) return end;
    left->last = *std::move(end.refused);
  }
  return refused_as(refusal_reason::timed_out, left->last);
}

void tell(keeper& leases, const wanted_lease& wanted, const wait_end& end,
          boot_clock::time_point began, std::optional<boot_clock::time_point> waits_since) {
  auto& events = leases.events();
  const auto now = leases.now();
  const auto& key = wanted.request.key;
  const auto took = as_told(now - began);
  const auto waited = as_told(waits_since ? now - *waits_since : boot_clock::duration::zero());
  if (waits_since) events.tell(&observer::waited, [&] { return waited_event{key, waited}; });
  if (end.fault != nullptr) {
    events.tell_fault(fault_operation::acquire, key, 1, end.fault, now - began);
  } else if (end.refused) {
    events.tell(&observer::refused, [&] { return refused_event{*end.refused, took, waited}; });
  } else {
    events.tell(&observer::acquired, [&] {
      return acquired_event{key, end.granted->token, took, waited};
    });
  }
}

}  // namespace

wait_end acquire(keeper& leases, const keeper::visit& here, const wanted_lease& wanted,
                 const retry_policy& wait) {
  check(wait);
  const auto began = leases.now();
  std::optional<boot_clock::time_point> waits_since;
  auto end = ask_and_wait(leases, here, wanted, wait, waits_since);
  tell(leases, wanted, end, began, waits_since);
  return end;
}

}  // namespace rowlock::detail
