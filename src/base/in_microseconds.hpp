// Durations that a caller gives, as the port counts them.
#ifndef ROWLOCK_BASE_IN_MICROSECONDS_HPP
#define ROWLOCK_BASE_IN_MICROSECONDS_HPP

#include <algorithm>
#include <chrono>

namespace rowlock::detail {

/// What is too long to be counted is beyond all bounds, and stays so.
constexpr std::chrono::microseconds in_microseconds(std::chrono::milliseconds duration) {
  constexpr std::chrono::milliseconds beyond = std::chrono::hours{24 * 365 * 100};
  return std::clamp(duration, -beyond, beyond);
}

}  // namespace rowlock::detail

#endif
