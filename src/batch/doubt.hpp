// Calls whose outcome is unknown, and what another one like them tells.
#ifndef ROWLOCK_BATCH_DOUBT_HPP
#define ROWLOCK_BATCH_DOUBT_HPP

#include <exception>

#include "base/faults.hpp"
#include "rowlock/error.hpp"
#include "rowlock/port/requests.hpp"

namespace rowlock::detail {

/// Whether a call that failed so may have changed the database all the same.
inline bool is_doubt(const std::exception_ptr& fault) {
  return kind_of(fault) == errc::outcome_unknown;
}

/// Whether the answer to the same attempt, sent again, says what became of the first one. `busy`
/// does not: the statement in doubt may be what locks the row.
inline bool resolves_doubt(const acquire_answer& again) {
  return again.status != acquire_status::busy;
}

/// Sends an acquisition again whose call failed with `doubt`, as the same attempt; throws `doubt`
/// where the answer does not resolve it. Never for a release: made twice, it is answered with lost.
template <class Attempt, class Resolves>
auto resolve_doubt(const std::exception_ptr& doubt, const Attempt& attempt,
                   const Resolves& resolves) {
  try {
    auto answers = attempt();
    if (resolves(answers)) return answers;
  } catch (...) {  // the first fault says more
  }
  std::rethrow_exception(doubt);
}

/// Calls `attempt`, and once more where its outcome is unknown, unless `give_up` answers true then.
template <class Attempt, class Resolves, class GiveUp>
auto resolving_doubt(const Attempt& attempt, const Resolves& resolves, const GiveUp& give_up) {
  std::exception_ptr fault;
  try {
    return attempt();
  } catch (...) {
    fault = std::current_exception();
    if (!is_doubt(fault) || give_up()) throw;
  }
  return resolve_doubt(fault, attempt, resolves);
}

/// The fault of a wait whose time is over before an answer: in doubt where a try is under way.
inline std::exception_ptr unanswered(bool is_being_tried) {
  return std::make_exception_ptr(
      error{is_being_tried ? errc::outcome_unknown : errc::unavailable,
            "the database did not answer before the wait was over: a grant that comes later is "
            "given back; see whether the database hangs"});
}

}  // namespace rowlock::detail

#endif
