// Bounds of time options, and their conversion to the unit of stores.
#ifndef ROWLOCK_BASE_LIMITS_HPP
#define ROWLOCK_BASE_LIMITS_HPP

#include <algorithm>
#include <chrono>
#include <string>

#include "rowlock/error.hpp"

namespace rowlock::detail {

inline constexpr std::chrono::hours longest_time_limit{24};

/// Throws `error` (misuse) for an invalid limit.
template <class Rep, class Period>
void check_time_limit(const char* option, std::chrono::duration<Rep, Period> limit) {
  if (limit > limit.zero() && limit <= longest_time_limit) return;
  throw error{errc::misuse, std::string{option} + " must be above zero, and at most 24 hours"};
}

/// The same for an option where zero means no wait.
template <class Rep, class Period>
void check_time_to_wait(const char* option, std::chrono::duration<Rep, Period> wait) {
  if (wait >= wait.zero() && wait <= longest_time_limit) return;
  throw error{errc::misuse, std::string{option} + " must be between zero and 24 hours"};
}

/// The same for how long a key stays closed after its release.
void check_hold(std::chrono::microseconds stay_closed);

/// Throws `error` (misuse) for an invalid allowance.
inline void check_clock_skew(std::chrono::milliseconds skew) {
  constexpr std::chrono::minutes largest{1};
  if (skew >= std::chrono::milliseconds::zero() && skew <= largest) return;
  throw error{errc::misuse, "clock_skew must be between zero and one minute"};
}

/// Clamps to 100 years, so that the conversion cannot overflow; that is still beyond all bounds.
constexpr std::chrono::microseconds in_microseconds(std::chrono::milliseconds duration) {
  constexpr std::chrono::milliseconds beyond = std::chrono::hours{24 * 365 * 100};
  return std::clamp(duration, -beyond, beyond);
}

}  // namespace rowlock::detail

#endif
