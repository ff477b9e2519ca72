// How long to pause before the next try.
#ifndef ROWLOCK_BASE_NEXT_PAUSE_HPP
#define ROWLOCK_BASE_NEXT_PAUSE_HPP

#include <algorithm>
#include <chrono>
#include <exception>

#include "rowlock/boot_clock.hpp"
#include "rowlock/retry_policy.hpp"

namespace rowlock::detail {

/// What is longer is for ever: clocks count nanoseconds, and must not overflow.
constexpr std::chrono::milliseconds bounded(std::chrono::milliseconds duration) {
  return std::min<std::chrono::milliseconds>(duration, std::chrono::hours{24 * 365 * 10});
}

/// Throws `error` (misuse) for a policy that cannot be meant.
void check(const retry_policy& policy);

/// Whether there may be more than one try.
[[nodiscard]] bool is_patient(const retry_policy& policy) noexcept;

/// Whether a wait goes on after such a fault.
[[nodiscard]] bool outlasts(const retry_policy& wait, const std::exception_ptr& fault);

/// Any time between the two, both included.
boot_clock::duration drawn_between(boot_clock::duration low, boot_clock::duration high);

/// By the pauses of `policy`; `last` is the pause before this one, zero if there was none.
boot_clock::duration next_pause(const retry_policy& policy, boot_clock::duration last);

}  // namespace rowlock::detail

#endif
