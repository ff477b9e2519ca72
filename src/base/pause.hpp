// The next pause, bounds of times, and what a refusal says of a better moment.
#ifndef ROWLOCK_BASE_PAUSE_HPP
#define ROWLOCK_BASE_PAUSE_HPP

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <stop_token>

#include "rowlock/clock.hpp"
#include "rowlock/outcome.hpp"
#include "rowlock/retry.hpp"

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

/// Calls `try_once` until it answers true, with pauses of 1, 2, 4 ... 64 ms. False if it never did.
template <class Try>
bool try_for_a_moment(time_source& time, const std::stop_token& stop, const Try& try_once) {
  using std::chrono::milliseconds;
  for (milliseconds pause{1};; pause *= 2) {
    if (try_once()) return true;
    if (pause > milliseconds{64}) return false;
    time.sleep_until(time.now() + pause, stop);
  }
}

}  // namespace rowlock::detail

#endif
