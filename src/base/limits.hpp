// How long the options of a store may let it wait.
#ifndef ROWLOCK_BASE_LIMITS_HPP
#define ROWLOCK_BASE_LIMITS_HPP

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

}  // namespace rowlock::detail

#endif
