// A caller's wait in the queue, and the ways in which it ends.
#include "lock/queue_wait.hpp"

#include <chrono>
#include <utility>

#include "base/pause.hpp"
#include "batch/doubt.hpp"
#include "wait/outage.hpp"

namespace rowlock::detail {

namespace {

/// How long the answer to the last try may take after the caller's time is over. Longer than a
/// working database needs, whose statements wait a second for a lock of the table; shorter than a
/// store may wait for one that does not answer.
constexpr std::chrono::seconds last_answer{2};

retry_policy checked(retry_policy wait) {
  check(wait);
  return wait;
}

}  // namespace

attempt_end refused_as(refusal_reason reason, refusal last) {
  last.reason = reason;
  return {.refused = std::move(last)};
}

bool is_contention(const refusal& refused) {
  return refused.reason == refusal_reason::held || refused.reason == refusal_reason::busy;
}

queue_wait::queue_wait(lease_keeper& leases, retry_policy wait, bool asks)
    : leases_{leases},
      wait_{checked(std::move(wait))},
      asks_{asks},
      began_{leases.now()},
      until_{wait_.give_up_after ? began_ + bounded(*wait_.give_up_after)
                                 : boot_clock::time_point::max()} {}

bool queue_wait::can_wait() const noexcept { return is_patient(wait_); }

bool queue_wait::is_over() const {
  return wait_.stop.stop_requested() || leases_.closing().stop_requested() ||
         (can_wait() && leases_.now() >= until_);
}

boot_clock::time_point queue_wait::answer_until() const noexcept {
  return until_ == boot_clock::time_point::max() ? until_ : until_ + last_answer;
}

void queue_wait::join(acquire_request wanted, const wait_queue::try_result& first,
                      std::function<void(wait_result)> answered, std::function<void()> turn,
                      std::vector<lock_key> awaited) {
  waits_since_ = leases_.now();
  leases_.start_waiting();
  queued_ = leases_.waiting().join(std::move(wanted), wait_, first, std::move(answered),
                                   std::move(turn), std::move(awaited), asks_);
}

std::exception_ptr queue_wait::why_away(const wait_queue::departure& left) {
  const auto& away = leases_.outage();
  if (left.fault != nullptr && (left.is_in_doubt || away.is_known())) return left.fault;
  // Other attempts tried on behalf of this one.
  return away.is_on() ? away.why() : nullptr;
}

void queue_wait::return_if_granted(const waiter& left, const wait_queue::departure& how) {
  if (how.handed_by) leases_.return_if_granted(left.request, *how.handed_by);
}

std::optional<attempt_end> queue_wait::time_over() {
  const auto late = queued();
  auto left = late ? leases_.waiting().leave_after_last_try(*late) : std::nullopt;
  if (!left) return std::nullopt;
  return_if_granted(*late, *left);
  if (auto fault = why_away(*left)) return attempt_end{.fault = std::move(fault)};
  return refused_as(refusal_reason::timed_out, std::move(left->last));
}

std::optional<wait_queue::departure> queue_wait::leave() {
  const auto leaving = queued();
  auto left = leaving ? leases_.waiting().leave(*leaving) : std::nullopt;
  if (left) return_if_granted(*leaving, *left);
  return left;
}

std::optional<attempt_end> queue_wait::give_up() {
  auto left = leave();
  if (!left) return std::nullopt;
  // The try under way may have been granted, whatever the result of the one before.
  const bool is_new_doubt = left->is_being_tried && !left->is_in_doubt;
  auto fault = is_new_doubt ? nullptr : why_away(*left);
  if (fault != nullptr) return attempt_end{.fault = std::move(fault)};
  if (!left->is_unanswered) return refused_as(refusal_reason::timed_out, std::move(left->last));
  return attempt_end{.fault = unanswered(is_new_doubt)};
}

std::optional<attempt_end> queue_wait::stop() {
  auto left = leave();
  if (!left) return std::nullopt;
  if (left->is_in_doubt) return attempt_end{.fault = left->fault};
  return refused_as(refusal_reason::stopped, std::move(left->last));
}

attempt_end queue_wait::await(mailbox<attempt_end>& answer, const std::stop_token& stopped) {
  auto end = answer.wait_until(leases_.time(), until(), stopped);
  if (!end && !stopped.stop_requested()) end = time_over();
  // The store may hang in the last try, so the wait for its answer is bounded.
  if (!end) end = answer.wait_until(leases_.time(), answer_until(), stopped);
  if (!end) end = stopped.stop_requested() ? stop() : give_up();
  return end ? *std::move(end) : answer.wait();
}

void queue_wait::report(const lock_key& first, std::size_t keys,
                        std::span<const std::shared_ptr<lease_state>> granted,
                        const attempt_end& end, const std::string& correlation_id) {
  if (leases_.options().observer == nullptr) return;
  auto& events = leases_.events();
  const auto now = leases_.now();
  const auto took = to_microseconds(now - began_);
  const auto waited =
      to_microseconds(waits_since_ ? now - *waits_since_ : boot_clock::duration::zero());
  if (waits_since_ && !std::exchange(has_reported_wait_, true)) {
    events.emit(&observer::waited, [&] { return waited_event{first, waited, correlation_id}; });
  }
  if (end.fault != nullptr) {
    events.emit_fault(fault_operation::acquire, first, keys, end.fault, now - began_,
                      correlation_id);
  } else if (end.refused) {
    events.emit(&observer::refused, [&] {
      return refused_event{*end.refused, took, waited, correlation_id};
    });
  }
  for (const auto& each : granted) {
    events.emit(&observer::acquired, [&] { return each->acquired(took, waited); });
  }
}

}  // namespace rowlock::detail
