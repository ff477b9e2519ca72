// Asks a store for keys, and again as the same attempt when an answer got lost.
#include "core/asking.hpp"

#include <optional>
#include <utility>

#include "core/own_fault.hpp"
#include "rowlock/error.hpp"

namespace rowlock::detail {

namespace {

bool is_in_doubt(const std::exception_ptr& fault) {
  try {
    std::rethrow_exception(fault);
  } catch (const error& thrown) {
    return thrown.kind() == errc::outcome_unknown;
  } catch (...) {
    return false;
  }
}

/// None: it is still not known whether the attempt was granted.
std::optional<acquire_answer> ask_in_doubt(store& rows, const acquire_request& request) {
  try {
    auto answer = rows.acquire({&request, 1}).front();
    // The statement in doubt may be what makes the row busy.
    if (answer.status != acquire_status::busy) return answer;
  } catch (...) {  // the first fault says more
  }
  return std::nullopt;
}

asked_request ask_again(store& rows, const acquire_request& request,
                        const std::exception_ptr& fault) {
  if (auto answer = ask_in_doubt(rows, request)) return {*std::move(answer)};
  return {{}, own_fault(fault)};
}

}  // namespace

std::vector<asked_request> ask(store& rows, std::span<const acquire_request> requests) {
  std::vector<asked_request> asked;
  asked.reserve(requests.size());
  try {
    for (auto& answer : rows.acquire(requests)) asked.push_back({std::move(answer)});
  } catch (...) {  // who asks is in another thread, perhaps
    const auto fault = std::current_exception();
    const bool in_doubt = is_in_doubt(fault);
    for (const auto& request : requests) {
      asked.push_back(in_doubt ? ask_again(rows, request, fault)
                               : asked_request{{}, own_fault(fault)});
    }
  }
  return asked;
}

refusal to_refusal(const lock_key& key, const acquire_answer& answer) {
  refusal refused{.key = key,
                  .holder = answer.holder,
                  .remaining = answer.remaining,
                  .current = answer.version};
  switch (answer.status) {
    case acquire_status::held:
      refused.reason = refusal_reason::held;
      break;
    case acquire_status::stale:
      refused.reason = refusal_reason::stale;
      break;
    case acquire_status::done:
      refused.reason = refusal_reason::already_done;
      refused.done = answer.done;
      break;
    default:
      refused.reason = refusal_reason::busy;
  }
  return refused;
}

}  // namespace rowlock::detail
