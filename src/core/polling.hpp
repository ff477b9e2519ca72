// The pauses of a calling thread that asks again and again.
#ifndef ROWLOCK_CORE_POLLING_HPP
#define ROWLOCK_CORE_POLLING_HPP

#include <optional>
#include <utility>

#include "core/either_stop.hpp"
#include "core/giving_up.hpp"
#include "core/keeper.hpp"
#include "rowlock/backoff.hpp"

namespace rowlock::detail {

/// By the policy, and no longer than the keeper is open. Made just before the first try.
class polling {
 public:
  polling(keeper& leases, const retry_policy& wait)
      : stop_{wait.stop, leases.closing()},
        pauses_{until_stopped(wait, stop_.token()), leases.options().time} {}

  /// Whether there may be another try at all.
  [[nodiscard]] bool is_patient() const noexcept { return pauses_.is_patient(); }

  /// Whether the caller has no time for another question.
  [[nodiscard]] bool is_over() const {
    return stop_.token().stop_requested() || (is_patient() && pauses_.is_last_try());
  }

  /// None: slept, ask again. Otherwise what the wait came to.
  std::optional<refusal> pause(refusal last) {
    const bool is_contention =
        last.reason == refusal_reason::held || last.reason == refusal_reason::busy;
    if (!is_contention) return last;
    const auto verdict = pauses_.pause(next_chance(last));
    if (verdict == backoff::verdict::again) return std::nullopt;
    return given_up(std::move(last), verdict, pauses_);
  }

 private:
  static retry_policy until_stopped(retry_policy wait, std::stop_token stop) {
    wait.stop = std::move(stop);
    return wait;
  }

  either_stop stop_;
  backoff pauses_;
};

}  // namespace rowlock::detail

#endif
