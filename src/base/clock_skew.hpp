// How far the clocks of a database's servers may be apart.
#ifndef ROWLOCK_BASE_CLOCK_SKEW_HPP
#define ROWLOCK_BASE_CLOCK_SKEW_HPP

#include <chrono>

#include "rowlock/error.hpp"

namespace rowlock::detail {

/// Throws `error` (misuse) for an allowance that cannot be meant.
inline void check_clock_skew(std::chrono::milliseconds skew) {
  constexpr std::chrono::minutes largest{1};
  if (skew >= std::chrono::milliseconds::zero() && skew <= largest) return;
  throw error{errc::misuse, "clock_skew must be between zero and one minute"};
}

}  // namespace rowlock::detail

#endif
