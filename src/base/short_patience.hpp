// A row is in use for a moment: ask again, for about a tenth of a second.
#ifndef ROWLOCK_BASE_SHORT_PATIENCE_HPP
#define ROWLOCK_BASE_SHORT_PATIENCE_HPP

#include <chrono>
#include <stop_token>

#include "rowlock/time_source.hpp"

namespace rowlock::detail {

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
