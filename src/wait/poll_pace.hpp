// When rows are read again whose releases are not announced.
#ifndef ROWLOCK_WAIT_POLL_PACE_HPP
#define ROWLOCK_WAIT_POLL_PACE_HPP

#include <algorithm>
#include <chrono>

#include "rowlock/clock.hpp"
#include "rowlock/port/requests.hpp"

namespace rowlock::detail {

/// The statements of a process that waits for many keys are so far apart, a try that follows a read
/// excepted.
inline constexpr boot_clock::duration shortest_poll_pause = std::chrono::milliseconds{50};
inline constexpr boot_clock::duration longest_poll_pause = std::chrono::seconds{1};

/// The pause after a read that found the row live: a twentieth of the hold's age, so that a wait is
/// a fortieth of the hold longer on average. A closed row opens at a time that is known.
inline boot_clock::duration poll_pause_after(const row_state& seen) {
  if (!seen.held_for) return longest_poll_pause;
  return std::clamp<boot_clock::duration>(*seen.held_for / 20, shortest_poll_pause,
                                          longest_poll_pause);
}

}  // namespace rowlock::detail

#endif
