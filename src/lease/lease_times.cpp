// Times of a lease that are out of range.
#include "lease/lease_times.hpp"

#include <string>

#include "base/limits.hpp"
#include "rowlock/error.hpp"

namespace rowlock::detail {

namespace {

std::string shown(std::chrono::milliseconds duration) {
  return std::to_string(duration.count()) + " ms";
}

constexpr std::chrono::hours longest_renewed{24 * 365};

}  // namespace

void check_times(std::chrono::milliseconds ttl, std::optional<std::chrono::milliseconds> renew_for,
                 const lock_options& options) {
  constexpr std::chrono::milliseconds shortest_renewed{30};
  if (ttl <= std::chrono::milliseconds::zero()) {
    throw error{errc::misuse, "the ttl is not above zero: a lease must last some time"};
  }
  if (ttl <= options.margin) {
    throw error{errc::misuse, "the ttl of " + shown(ttl) + " is not above the margin of " +
                                  shown(options.margin) + ": raise the ttl or lower the margin"};
  }
  if (options.renew && ttl < shortest_renewed) {
    throw error{errc::misuse, "the ttl of " + shown(ttl) +
                                  " leaves no time to renew it: make it 30 ms or more, or set "
                                  "renew to false"};
  }
  if (renew_for && *renew_for < ttl) {
    throw error{errc::misuse, "renew_for is " + shown(*renew_for) +
                                  ", but a grant lasts its ttl of " + shown(ttl) +
                                  " in any case: raise renew_for or lower the ttl"};
  }
  if (renew_for && *renew_for > longest_renewed) {
    throw error{errc::misuse, "renew_for is above 365 days: leave it out, and renewal has no end"};
  }
}

void check_progress(std::optional<std::chrono::milliseconds> within) {
  if (within && (*within <= std::chrono::milliseconds::zero() || *within > longest_renewed)) {
    throw error{
        errc::misuse,
        "progress_within must be above zero, and at most 365 days: leave it out, and renewal "
        "needs no progress"};
  }
}

void check_delay(std::chrono::milliseconds ttl, std::chrono::milliseconds lock_delay) {
  if (lock_delay < std::chrono::milliseconds::zero()) {
    throw error{errc::misuse, "the lock_delay is negative"};
  }
  if (ttl <= longest_ttl && in_microseconds(ttl) + in_microseconds(lock_delay) > longest_ttl) {
    throw error{errc::misuse,
                "the ttl and the lock_delay are above 24 hours together: lower one of them"};
  }
}

}  // namespace rowlock::detail
