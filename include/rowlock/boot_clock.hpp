// A clock that does not stop while the machine sleeps.
#ifndef ROWLOCK_BOOT_CLOCK_HPP
#define ROWLOCK_BOOT_CLOCK_HPP

#include <chrono>

namespace rowlock {

/// Linux `CLOCK_BOOTTIME`: monotonic, unaffected by changes of the wall clock, and, unlike
/// `std::chrono::steady_clock`, counting during suspend. All deadlines of a holder are on it.
struct boot_clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<boot_clock>;
  static constexpr bool is_steady = true;

  static time_point now() noexcept;
};

}  // namespace rowlock

#endif
