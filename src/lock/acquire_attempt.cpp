// One attempt to acquire a key.
#include "lock/acquire_attempt.hpp"

#include <chrono>
#include <exception>
#include <optional>
#include <utility>

#include "base/faults.hpp"
#include "base/one_shot.hpp"
#include "base/pause.hpp"
#include "base/threads.hpp"
#include "batch/doubt.hpp"
#include "rowlock/error.hpp"
#include "wait/outage.hpp"

namespace rowlock::detail {

namespace {

attempt_end refused_as(refusal_reason reason, refusal last) {
  last.reason = reason;
  return {.refused = std::move(last)};
}

/// How long the answer to the last try may take after the caller's time is over. Longer than a
/// working database needs, whose statements wait a second for a lock of the table; shorter than a
/// store may wait for one that does not answer.
constexpr std::chrono::seconds last_answer{2};

/// Only contention is worth a wait.
bool is_contention(const attempt_end& end) {
  return end.refused && (end.refused->reason == refusal_reason::held ||
                         end.refused->reason == refusal_reason::busy);
}

retry_policy checked(retry_policy wait) {
  check(wait);
  return wait;
}

}  // namespace

acquire_attempt::acquire_attempt(lease_keeper& leases, lease_request wanted, retry_policy wait,
                                 readers read_by)
    : leases_{leases},
      wanted_{std::move(wanted)},
      read_by_{read_by},
      wait_{checked(std::move(wait))},
      began_{leases.now()},
      until_{wait_.give_up_after ? began_ + bounded(*wait_.give_up_after)
                                 : boot_clock::time_point::max()} {}

attempt_end acquire_attempt::try_once() {
  const auto tried_at = leases_.now();
  auto [answer, fault] = leases_.batcher().acquire(wanted_.request, [this] { return is_over(); });
  has_failed_ = fault != nullptr;
  if (has_failed_) return {.fault = fault};
  leases_.outage().answered();
  if (answer.status == acquire_status::granted) {
    return end_of({.granted = grant{std::move(answer), tried_at}});
  }
  return {.refused = to_refusal(key(), answer)};
}

attempt_end acquire_attempt::end_of(wait_result how) {
  if (!how.granted) return {.refused = std::move(how.refused), .fault = std::move(how.fault)};
  const auto take_up = [&](lease_request& wanted) {
    return leases_.take_up(wanted, how.granted->answer, how.granted->tried_at);
  };
  auto copied = read_by_ == readers::several_threads ? std::optional{wanted_} : std::nullopt;
  auto kept = take_up(copied ? *copied : wanted_);
  if (kept == nullptr) return {.fault = granted_too_late()};
  kept->handoffs = how.granted->handoffs;
  return {.granted = std::move(kept)};
}

std::optional<attempt_end> acquire_attempt::first_try() {
  leases_.start_threads();
  // Such a request may be refused for good, so it is tried once before any wait.
  const bool may_be_final = wanted_.request.expected || wanted_.request.unless_done;
  const bool can_wait = is_patient(wait_);
  if (can_wait && !may_be_final && leases_.waiting().must_wait(key())) return std::nullopt;
  const auto tried_at = leases_.now();
  auto end = try_once();
  if (has_failed_ && outlasts(wait_, end.fault)) return outlast(std::move(end), tried_at);
  if (!is_contention(end)) return end;
  if (wait_.stop.stop_requested()) return refused_as(refusal_reason::stopped, *end.refused);
  if (!can_wait) return end;
  first_try_.refused = std::move(end.refused);
  return std::nullopt;
}

std::optional<attempt_end> acquire_attempt::outlast(attempt_end failed,
                                                    boot_clock::time_point tried_at) {
  if (wait_.stop.stop_requested()) {
    if (is_doubt(failed.fault)) return failed;
    return refused_as(refusal_reason::stopped, {.key = key()});
  }
  const auto now = leases_.now();
  leases_.outage().failed(1, failed.fault, now);
  leases_.events().emit_fault(fault_operation::acquire, key(), 1, failed.fault, now - tried_at,
                              wanted_.request.correlation_id);
  first_try_.fault = std::move(failed.fault);
  return std::nullopt;
}

void acquire_attempt::enqueue(std::function<void(attempt_end)> answered) {
  waits_since_ = leases_.now();
  leases_.start_waiting();
  auto request = wanted_.request;
  request.never_waits = true;  // one thread tries for all waiters
  // An attempt outlives its wait: if `leave` comes too late, the caller waits for the result.
  queued_ = leases_.waiting().join(std::move(request), wait_, first_try_,
                                   [this, answered = std::move(answered)](wait_result how) {
                                     answered(end_of(std::move(how)));
                                   });
}

bool acquire_attempt::is_over() const {
  return wait_.stop.stop_requested() || leases_.closing().stop_requested() ||
         (is_patient(wait_) && leases_.now() >= until_);
}

boot_clock::time_point acquire_attempt::answer_until() const noexcept {
  return until_ == boot_clock::time_point::max() ? until_ : until_ + last_answer;
}

std::exception_ptr acquire_attempt::why_away(const wait_queue::departure& left) {
  const auto& away = leases_.outage();
  if (left.fault != nullptr && (left.is_in_doubt || away.is_known()))
    return copied_fault(left.fault);
  // Other attempts tried on behalf of this one.
  return away.is_on() ? copied_fault(away.why()) : nullptr;
}

std::optional<attempt_end> acquire_attempt::time_over() {
  const auto late = queued_.lock();
  auto left = late ? leases_.waiting().leave_after_last_try(*late) : std::nullopt;
  if (!left) return std::nullopt;
  if (left->handed_by) leases_.return_if_granted(wanted_.request, *left->handed_by);
  if (auto fault = why_away(*left)) return attempt_end{.fault = std::move(fault)};
  return refused_as(refusal_reason::timed_out, std::move(left->last));
}

std::optional<wait_queue::departure> acquire_attempt::leave() {
  const auto leaving = queued_.lock();
  auto left = leaving ? leases_.waiting().leave(*leaving) : std::nullopt;
  if (left && left->handed_by) leases_.return_if_granted(wanted_.request, *left->handed_by);
  return left;
}

std::optional<attempt_end> acquire_attempt::give_up() {
  auto left = leave();
  if (!left) return std::nullopt;
  // The try under way may have been granted, whatever the result of the one before.
  const bool is_new_doubt = left->is_being_tried && !left->is_in_doubt;
  auto fault = is_new_doubt ? nullptr : why_away(*left);
  if (fault != nullptr) return attempt_end{.fault = std::move(fault)};
  if (!left->is_unanswered) return refused_as(refusal_reason::timed_out, std::move(left->last));
  return attempt_end{.fault = unanswered(is_new_doubt)};
}

std::optional<attempt_end> acquire_attempt::stop() {
  auto left = leave();
  if (!left) return std::nullopt;
  if (left->is_in_doubt) return attempt_end{.fault = copied_fault(left->fault)};
  return refused_as(refusal_reason::stopped, std::move(left->last));
}

void acquire_attempt::report(const attempt_end& end) {
  if (leases_.options().observer == nullptr) return;
  auto& events = leases_.events();
  const auto now = leases_.now();
  const auto took = to_microseconds(now - began_);
  const auto waited =
      to_microseconds(waits_since_ ? now - *waits_since_ : boot_clock::duration::zero());
  const auto& correlation_id =
      end.granted ? end.granted->correlation_id : wanted_.request.correlation_id;
  if (waits_since_)
    events.emit(&observer::waited, [&] {
      return waited_event{end.granted ? end.granted->key : key(), waited, correlation_id};
    });
  if (end.fault != nullptr) {
    events.emit_fault(fault_operation::acquire, key(), 1, end.fault, now - began_, correlation_id);
  } else if (end.refused) {
    events.emit(&observer::refused, [&] {
      return refused_event{*end.refused, took, waited, correlation_id};
    });
  } else {
    events.emit(&observer::acquired, [&] {
      return acquired_event{end.granted->key, end.granted->token, took, waited, correlation_id};
    });
  }
}

std::exception_ptr granted_too_late() {
  return std::make_exception_ptr(
      error{errc::unavailable,
            "the database granted the lease, but answered only after the lease's own deadline: it "
            "was given back; raise the ttl, or see why the database is slow"});
}

attempt_end acquire(lease_keeper& leases, lease_request wanted, retry_policy wait) {
  const auto callers_stop = wait.stop;
  acquire_attempt attempt{leases, std::move(wanted), std::move(wait),
                          acquire_attempt::readers::one_thread};
  auto end = attempt.first_try();
  if (!end) {
    const either_stop stop{callers_stop, leases.closing()};
    const auto caller = std::make_shared<one_shot<attempt_end>>();
    attempt.enqueue([caller](attempt_end how) { caller->set(std::move(how)); });
    end = caller->wait_until(leases.time(), attempt.until(), stop.token());
    if (!end && !stop.token().stop_requested()) end = attempt.time_over();
    // The store may hang in the last try, so the wait for its answer is bounded.
    if (!end) end = caller->wait_until(leases.time(), attempt.answer_until(), stop.token());
    if (!end) end = stop.token().stop_requested() ? attempt.stop() : attempt.give_up();
    if (!end) end = caller->wait();
  }
  attempt.report(*end);
  return *std::move(end);
}

}  // namespace rowlock::detail
