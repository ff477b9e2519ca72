// Bounds of time options, in the units that stores use.
#ifndef ROWLOCK_BASE_LIMITS_HPP
#define ROWLOCK_BASE_LIMITS_HPP

#include <algorithm>
#include <chrono>
#include <string>

#include "rowlock/error.hpp"

namespace rowlock::detail {

inline constexpr std::chrono::hours longest_time_limit{24};

/// Throws `error` (misuse) for a limit that cannot be meant.
template <class Rep, class Period>
void check_time_limit(const char* option, std::chrono::duration<Rep, Period> limit) {
  if (limit > limit.zero() && limit <= longest_time_limit) return;
  throw error{errc::misuse, std::string{option} + " must be above zero, and at most 24 hours"};
}

/// The same where zero means not to wait at all.
template <class Rep, class Period>
void check_time_to_wait(const char* option, std::chrono::duration<Rep, Period> wait) {
  if (wait >= wait.zero() && wait <= longest_time_limit) return;
  throw error{errc::misuse, std::string{option} + " must be between zero and 24 hours"};
}

/// Throws `error` (misuse) for an allowance that cannot be meant.
inline void check_clock_skew(std::chrono::milliseconds skew) {
  constexpr std::chrono::minutes largest{1};
  if (skew >= std::chrono::milliseconds::zero() && skew <= largest) return;
  throw error{errc::misuse, "clock_skew must be between zero and one minute"};
}

/// What is too long to be counted is beyond all bounds, and stays so.
constexpr std::chrono::microseconds in_microseconds(std::chrono::milliseconds duration) {
  constexpr std::chrono::milliseconds beyond = std::chrono::hours{24 * 365 * 100};
  return std::clamp(duration, -beyond, beyond);
}

}  // namespace rowlock::detail

#endif
