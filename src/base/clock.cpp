// The boot clock, and real and manual time sources.
#include "rowlock/clock.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>

#include "base/never_destroyed.hpp"

namespace rowlock {

namespace {

class boot_time final : public time_source {
 public:
  [[nodiscard]] boot_clock::time_point now() const noexcept override { return boot_clock::now(); }

  void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& wakeup,
                  boot_clock::time_point until) override {
    const auto left = until - now();
    if (left <= boot_clock::duration::zero()) return;
    // Condition variables wait on a clock that stops during suspend. At most 200 ms after a resume
    // the boot clock is read again, which is within the usual margin of a lease.
    wakeup.wait_for(lock, std::min<boot_clock::duration>(left, std::chrono::milliseconds{200}));
  }
};

}  // namespace

void time_source::sleep_until(boot_clock::time_point until, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable wakeup;
  const std::stop_callback wake{stop, [&] {
                                  const std::scoped_lock lock{mutex};
                                  wakeup.notify_all();
                                }};
  std::unique_lock lock{mutex};
  while (!stop.stop_requested() && now() < until) wait_until(lock, wakeup, until);
}

std::shared_ptr<time_source> system_time() {
  static const auto& only =
      detail::never_destroyed<const std::shared_ptr<time_source>>(std::make_shared<boot_time>());
  return only;
}

boot_clock::time_point manual_time::now() const noexcept {
  const detail::checked_lock lock{mutex_};
  return now_;
}

void manual_time::wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& wakeup,
                             boot_clock::time_point until) {
  // Reads the time every millisecond of real time, so that advance() need not know the waiters.
  if (now() < until) wakeup.wait_for(lock, std::chrono::milliseconds{1});
}

void manual_time::advance(boot_clock::duration step) {
  const detail::checked_lock lock{mutex_};
  now_ += step;
}

boot_clock::time_point boot_clock::now() noexcept {
  timespec read{};
  clock_gettime(CLOCK_BOOTTIME, &read);
  return time_point{std::chrono::seconds{read.tv_sec} + std::chrono::nanoseconds{read.tv_nsec}};
}

}  // namespace rowlock
