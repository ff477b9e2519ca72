// A warning that the deadline of a lease is near.
#ifndef ROWLOCK_LEASE_RISK_HPP
#define ROWLOCK_LEASE_RISK_HPP

#include <chrono>
#include <functional>
#include <mutex>
#include <utility>

#include "rowlock/clock.hpp"

namespace rowlock::detail {

/// Thread-safety: `tell` and `close` may be called from any thread.
class risk {
 public:
  risk(std::chrono::microseconds before_deadline, std::function<void(bool)> callback)
      : before{before_deadline}, callback_{std::move(callback)} {}

  void tell(bool is_near) {
    const std::lock_guard lock{calling_};
    if (!is_closed_) callback_(is_near);
  }

  /// No call begins after it. Waits for a call under way, unless that call closes it.
  void close() noexcept {
    const std::lock_guard lock{calling_};
    is_closed_ = true;
  }

  const std::chrono::microseconds before;

  // The lease_registry's, under its mutex:
  boot_clock::time_point look_at;
  bool is_at_risk = false;

 private:
  std::recursive_mutex calling_;  // the callback may destroy its watch
  const std::function<void(bool)> callback_;
  bool is_closed_ = false;
};

}  // namespace rowlock::detail

#endif
