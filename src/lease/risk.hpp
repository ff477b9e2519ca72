// A warning that the deadline of a lease is near.
#ifndef ROWLOCK_LEASE_RISK_HPP
#define ROWLOCK_LEASE_RISK_HPP

#include <chrono>
#include <functional>
#include <utility>

#include "base/closable_callback.hpp"
#include "rowlock/clock.hpp"

namespace rowlock::detail {

class risk {
 public:
  risk(std::chrono::microseconds before_deadline, std::function<void(bool)> callback)
      : before{before_deadline}, told{std::move(callback)} {}

  const std::chrono::microseconds before;
  closable_callback<bool> told;

  // The lease_registry's, under its mutex:
  boot_clock::time_point look_at;
  bool is_at_risk = false;
};

}  // namespace rowlock::detail

#endif
