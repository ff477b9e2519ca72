// One attempt to acquire a key.
#include "lock/acquire_attempt.hpp"

#include <exception>
#include <optional>
#include <utility>

#include "base/faults.hpp"
#include "base/mailbox.hpp"
#include "base/pause.hpp"
#include "base/threads.hpp"
#include "batch/doubt.hpp"
#include "rowlock/error.hpp"
#include "wait/outage.hpp"

namespace rowlock::detail {

acquire_attempt::acquire_attempt(lease_keeper& leases, lease_request wanted, retry_policy wait,
                                 readers read_by)
    : queue_wait{leases, std::move(wait), wanted.asks},
      wanted_{std::move(wanted)},
      read_by_{read_by} {}

attempt_end acquire_attempt::try_once() {
  const auto tried_at = leases().now();
  auto [answer, fault] = leases().batcher().acquire(wanted_.request, [this] { return is_over(); });
  has_failed_ = fault != nullptr;
  if (has_failed_) return {.fault = fault};
  leases().outage().answered();
  if (answer.status == acquire_status::granted) {
    return end_of({.granted = grant{std::move(answer), tried_at}});
  }
  return {.refused = to_refusal(key(), answer)};
}

attempt_end acquire_attempt::end_of(wait_result how) {
  if (!how.granted) return {.refused = std::move(how.refused), .fault = std::move(how.fault)};
  const auto take_up = [&](lease_request& wanted) {
    return leases().take_up(wanted, how.granted->answer, how.granted->tried_at);
  };
  auto copied = read_by_ == readers::several_threads ? std::optional{wanted_} : std::nullopt;
  auto kept = take_up(copied ? *copied : wanted_);
  if (kept == nullptr) return {.fault = granted_too_late()};
  kept->handoffs = how.granted->handoffs;
  return {.granted = std::move(kept)};
}

std::optional<attempt_end> acquire_attempt::first_try() {
  leases().start_threads();
  // Such a request may be refused for good, so it is tried once before any wait.
  const bool may_be_final = wanted_.request.expected || wanted_.request.unless_done;
  if (can_wait() && !may_be_final && leases().waiting().must_wait(key())) return std::nullopt;
  const auto tried_at = leases().now();
  auto end = try_once();
  if (has_failed_ && outlasts(policy(), end.fault)) return outlast(std::move(end), tried_at);
  if (!end.refused || !is_contention(*end.refused)) return end;
  if (policy().stop.stop_requested()) return refused_as(refusal_reason::stopped, *end.refused);
  if (!can_wait()) return end;
  first_try_.refused = std::move(end.refused);
  return std::nullopt;
}

std::optional<attempt_end> acquire_attempt::outlast(attempt_end failed,
                                                    boot_clock::time_point tried_at) {
  if (policy().stop.stop_requested()) {
    if (is_doubt(failed.fault)) return failed;
    return refused_as(refusal_reason::stopped, {.key = key()});
  }
  const auto now = leases().now();
  leases().outage().failed(1, failed.fault, now);
  leases().events().emit_fault(fault_operation::acquire, key(), 1, failed.fault, now - tried_at,
                               wanted_.request.correlation_id);
  first_try_.fault = std::move(failed.fault);
  return std::nullopt;
}

void acquire_attempt::enqueue(std::function<void(attempt_end)> answered) {
  auto request = wanted_.request;
  request.never_waits = true;  // one thread tries for all waiters
  // An attempt outlives its wait: if `leave` comes too late, the caller waits for the result.
  join(std::move(request), first_try_, [this, answered = std::move(answered)](wait_result how) {
    answered(end_of(std::move(how)));
  });
}

void acquire_attempt::report(const attempt_end& end) {
  if (end.granted) {
    queue_wait::report(end.granted->key, 1, {&end.granted, 1}, end, end.granted->correlation_id);
  } else {
    queue_wait::report(key(), 1, {}, end, wanted_.request.correlation_id);
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
    const auto caller = std::make_shared<mailbox<attempt_end>>();
    attempt.enqueue([caller](attempt_end how) { caller->set(std::move(how)); });
    end = attempt.await(*caller, stop.token());
  }
  attempt.report(*end);
  return *std::move(end);
}

}  // namespace rowlock::detail
