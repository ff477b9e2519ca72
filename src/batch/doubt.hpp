// Calls with unknown outcome, and their resolution by a second call.
#ifndef ROWLOCK_BATCH_DOUBT_HPP
#define ROWLOCK_BATCH_DOUBT_HPP

#include <exception>

#include "base/faults.hpp"
#include "rowlock/error.hpp"
#include "rowlock/port/requests.hpp"

namespace rowlock::detail {

/// Whether a call with this fault may have changed the database.
inline bool is_doubt(const std::exception_ptr& fault) {
  return kind_of(fault) == errc::outcome_unknown;
}

/// Whether the answer to a repeated attempt shows the outcome of the first. `busy` does not: the
/// statement in doubt may hold the row's lock.
inline bool resolves_doubt(const acquire_answer& again) {
  return again.status != acquire_status::busy;
}

/// Sends an acquisition that failed with `doubt` again, as the same attempt. Throws `doubt` if the
/// answer does not resolve it. Never for a release: its answer would be lost, whatever the first
/// did.
template <class Attempt, class Resolves>
auto resolve_doubt(const std::exception_ptr& doubt, const Attempt& attempt,
                   const Resolves& resolves) {
  try {
    auto answers = attempt();
    if (resolves(answers)) return answers;
  } catch (...) {  // the first fault is thrown instead
  }
  std::rethrow_exception(doubt);
}

/// Calls `attempt`, and once more if its outcome is unknown, unless `give_up` returns true then.
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

/// The fault of a wait that ended before an answer; its outcome is unknown if a try is under way.
inline std::exception_ptr unanswered(bool is_being_tried) {
  return std::make_exception_ptr(
      error{is_being_tried ? errc::outcome_unknown : errc::unavailable,
            "the database did not answer before the wait was over: a grant that comes later is "
            "given back; see whether the database hangs"});
}

}  // namespace rowlock::detail

#endif
