// One attempt to acquire several keys, all or any, with its retries.
#include "lock/set_attempt.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "batch/doubt.hpp"
#include "lock/acquire_attempt.hpp"
#include "rowlock/error.hpp"
#include "wait/key_queue.hpp"

namespace rowlock::detail {

namespace {

using answers = std::vector<acquire_answer>;

answers send(store& target, const std::vector<acquire_request>& requests,
             std::optional<std::size_t> limit, const retry_pauses& pauses) {
  const auto attempt = [&] {
    return limit ? target.acquire(requests, {acquire_mode::any, *limit})
                 : target.acquire(requests, {acquire_mode::all_or_none});
  };
  // The statement in doubt may have caused a refusal, so only a grant resolves the doubt.
  const auto is_any_granted = [](const answers& again) {
    return std::any_of(again.begin(), again.end(), [](const acquire_answer& answer) {
      return answer.status == acquire_status::granted;
    });
  };
  return resolving_doubt(attempt, is_any_granted, [&] { return pauses.is_over(); });
}

refusal why_not(const set_request& wanted, const answers& answered) {
  for (std::size_t i = 0; i < answered.size(); ++i) {
    if (answered[i].status == acquire_status::withheld) continue;
    return to_refusal(wanted.leases[i].request.key, answered[i]);
  }
  const auto reason = wanted.limit ? refusal_reason::held : refusal_reason::busy;
  return {.reason = reason, .key = wanted.leases.front().request.key};
}

/// Returns nothing if the deadline of one lease has passed; all grants are then released.
std::optional<lease_states> take_up(lease_keeper& leases, set_request& wanted,
                                    const answers& answered, boot_clock::time_point tried_at) {
  lease_states kept;
  bool is_in_time = true;
  for (std::size_t i = 0; i < answered.size(); ++i) {
    if (answered[i].status != acquire_status::granted) continue;
    if (auto one = leases.take_up(wanted.leases[i], answered[i], tried_at)) {
      kept.push_back(std::move(one));
    } else {
      is_in_time = false;
    }
  }
  if (is_in_time) return kept;
  for (const auto& each : kept) {
    each->give_up_hold();
    leases.releaser().release_later(*each);
  }
  return std::nullopt;
}

set_attempt_end taken_up(lease_keeper& leases, set_request& wanted, const answers& answered,
                         boot_clock::time_point tried_at, retry_pauses& pauses) {
  auto kept = take_up(leases, wanted, answered, tried_at);
  if (!kept) {
    pauses.begin_anew();
    std::rethrow_exception(granted_too_late());
  }
  if (kept->empty()) return {.refused = why_not(wanted, answered)};
  return {.granted = *std::move(kept)};
}

/// Returns nothing after a fault that permits another try, or with `stopped` set. Throws all other
/// faults of the store.
std::optional<answers> try_once(lease_keeper& leases, const set_request& wanted,
                                const std::vector<acquire_request>& requests, retry_pauses& pauses,
                                std::optional<refusal>& stopped) {
  const auto began = leases.now();
  const auto& first = requests.front().key;
  try {
    return send(leases.target(), requests, wanted.limit, pauses);
  } catch (...) {
    const auto fault = std::current_exception();
    if (pauses.outlasts(fault)) {
      leases.events().emit_fault(fault_operation::acquire, first, requests.size(), fault,
                                 leases.now() - began,
                                 wanted.leases.front().request.correlation_id);
    }
    stopped = pauses.pause_after(fault, first);
    return std::nullopt;
  }
}

set_attempt_end try_and_wait(lease_keeper& leases, set_request& wanted, retry_pauses& pauses) {
  std::vector<acquire_request> requests;
  requests.reserve(wanted.leases.size());
  for (const auto& each : wanted.leases) requests.push_back(each.request);
  for (;;) {
    std::optional<refusal> over;
    const auto tried_at = leases.now();
    if (const auto answered = try_once(leases, wanted, requests, pauses, over)) {
      leases.outage().answered();
      auto end = taken_up(leases, wanted, *answered, tried_at, pauses);
      if (!end.refused) return end;
      over = pauses.pause(*std::move(end.refused));
    }
    if (over) return {.refused = over};
  }
}

void report(lease_keeper& leases, const set_attempt_end& end, boot_clock::time_point began,
            const std::string& correlation_id) {
  if (leases.options().observer == nullptr) return;
  auto& events = leases.events();
  const auto took = to_microseconds(leases.now() - began);
  if (end.refused) {
    events.emit(&observer::refused, [&] {
      return refused_event{*end.refused, took, {}, correlation_id};
    });
  }
  for (const auto& each : end.granted) {
    events.emit(&observer::acquired, [&] {
      return acquired_event{each->key, each->token, took, {}, correlation_id};
    });
  }
}

}  // namespace

set_attempt_end acquire(lease_keeper& leases, set_request wanted, retry_pauses& pauses) {
  leases.start_threads();
  const auto began = leases.now();
  const auto first = wanted.leases.front().request;
  try {
    auto end = try_and_wait(leases, wanted, pauses);
    report(leases, end, began, first.correlation_id);
    return end;
  } catch (...) {
    leases.events().emit_fault(fault_operation::acquire, first.key, wanted.leases.size(),
                               std::current_exception(), leases.now() - began,
                               first.correlation_id);
    throw;
  }
}

}  // namespace rowlock::detail
