// The last refusal of a wait, and why the wait ended.
#ifndef ROWLOCK_BASE_PAUSE_HPP
#define ROWLOCK_BASE_PAUSE_HPP

#include <algorithm>
#include <chrono>
#include <optional>

#include "rowlock/backoff.hpp"
#include "rowlock/refusal.hpp"

namespace rowlock::detail {

/// `last`, with the reason that the wait gives: stopped, or timed_out if there was a wait at all.
inline refusal given_up(refusal last, backoff::verdict why, const backoff& tried) {
  if (why == backoff::verdict::stopped) last.reason = refusal_reason::stopped;
  if (why == backoff::verdict::exhausted && tried.is_patient()) {
    last.reason = refusal_reason::timed_out;
  }
  return last;
}

/// A better moment for the next try than the policy's pause, where the refusal knows one: when the
/// lease runs out, or soon, since transactions are short. At most an hour: a row written by hand
/// may name any year, and clocks count nanoseconds.
inline std::optional<boot_clock::duration> next_chance(const refusal& refused) {
  constexpr std::chrono::milliseconds soon{50};
  if (refused.reason == refusal_reason::busy) return soon;
  if (refused.remaining) {
    constexpr std::chrono::microseconds longest = std::chrono::hours{1};
    return std::min(*refused.remaining, longest) + std::chrono::milliseconds{1};
  }
  return std::nullopt;
}

}  // namespace rowlock::detail

#endif
