// The clock of deadlines, and a manual clock for tests.
#ifndef ROWLOCK_CLOCK_HPP
#define ROWLOCK_CLOCK_HPP

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>

#include "rowlock/detail/checked_mutex.hpp"
#include "rowlock/detail/export.hpp"

namespace rowlock {

/// Linux `CLOCK_BOOTTIME`: monotonic, unaffected by changes to the wall clock. Unlike
/// `std::chrono::steady_clock` it advances during suspend. All deadlines of holders use it.
struct ROWLOCK_EXPORT boot_clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<boot_clock>;
  static constexpr bool is_steady = true;

  static time_point now() noexcept;
};

/// Reads a clock, and waits for times on it. Thread-safe.
class ROWLOCK_EXPORT time_source {
 public:
  time_source() = default;
  time_source(const time_source&) = delete;
  time_source& operator=(const time_source&) = delete;
  virtual ~time_source() = default;

  [[nodiscard]] virtual boot_clock::time_point now() const noexcept = 0;

  /// Waits until `wakeup` is notified or `until` has come. May return earlier, so callers loop.
  virtual void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& wakeup,
                          boot_clock::time_point until) = 0;

  /// Sleeps until `until`, or until `stop` is requested, whichever comes first.
  void sleep_until(boot_clock::time_point until, const std::stop_token& stop);
};

/// The real clock: one object for the whole process.
ROWLOCK_EXPORT std::shared_ptr<time_source> system_time();

/// A clock that tests advance by hand, to make code wait, renew or expire.
class ROWLOCK_EXPORT manual_time final : public time_source {
 public:
  [[nodiscard]] boot_clock::time_point now() const noexcept override;
  void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& wakeup,
                  boot_clock::time_point until) override;

  /// Threads that wait for a time that has come wake within milliseconds.
  void advance(boot_clock::duration step);

 private:
  mutable detail::checked_mutex mutex_;
  boot_clock::time_point now_{std::chrono::hours{1}};
};

}  // namespace rowlock

#endif
