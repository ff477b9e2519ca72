// Pauses between tries, and bounds of durations.
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

/// `last` with the reason why the wait ended: stopped, or timed_out if there was a wait.
inline refusal given_up(refusal last, backoff::verdict why, const backoff& tried) {
  if (why == backoff::verdict::stopped) last.reason = refusal_reason::stopped;
  if (why == backoff::verdict::exhausted && tried.is_patient()) {
    last.reason = refusal_reason::timed_out;
  }
  return last;
}

/// A better time for the next try than the policy's pause, if the refusal gives one. That is the
/// end of the lease, or soon for a busy row, since transactions are short. At most an hour: a row
/// written by hand may contain any year, and clocks count nanoseconds.
inline std::optional<boot_clock::duration> next_chance(const refusal& refused) {
  constexpr std::chrono::milliseconds soon{50};
  if (refused.reason == refusal_reason::busy) return soon;
  if (refused.remaining) {
    constexpr std::chrono::microseconds longest = std::chrono::hours{1};
    return std::min(*refused.remaining, longest) + std::chrono::milliseconds{1};
  }
  return std::nullopt;
}

/// Ten years mean forever: clocks count nanoseconds, and must not overflow.
constexpr std::chrono::milliseconds bounded(std::chrono::milliseconds duration) {
  return std::min<std::chrono::milliseconds>(duration, std::chrono::hours{24 * 365 * 10});
}

/// Throws `error` (misuse) for an invalid policy.
void check(const retry_policy& policy);

/// Whether the policy permits more than one try.
[[nodiscard]] bool is_patient(const retry_policy& policy) noexcept;

/// Whether a wait continues after this fault.
[[nodiscard]] bool outlasts(const retry_policy& wait, const std::exception_ptr& fault);

/// A random time between the two, both included.
boot_clock::duration drawn_between(boot_clock::duration low, boot_clock::duration high);

/// The next pause of `policy`; `last` is the pause before it, zero if there was none.
boot_clock::duration next_pause(const retry_policy& policy, boot_clock::duration last);

/// Calls `try_once` until it returns true, with pauses of 1, 2, 4 ... 64 ms. False if it never did.
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
