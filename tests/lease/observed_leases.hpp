// Leases of a lock_table that is observed.
#ifndef ROWLOCK_TESTS_LEASE_OBSERVED_LEASES_HPP
#define ROWLOCK_TESTS_LEASE_OBSERVED_LEASES_HPP

#include <memory>
#include <variant>
#include <vector>

#include "lease/lease_state_test.hpp"
#include "rowlock/error.hpp"
#include "support/recording_observer.hpp"

namespace rowlock::tests {

class Observer : public lease_state_test {
 protected:
  Observer() { locks_.emplace(rows_, observed()); }

  [[nodiscard]] lock_options observed() const {
    return {.ttl = 30s, .margin = 1s, .time = time_, .observer = observer_};
  }
  void run_out_at_once() {
    rows_.before("renew", [] { throw error{errc::unavailable, "the network is down: wait"}; });
    time_->advance(29s);
  }
  std::vector<lock_key> faults_of(fault_operation operation) {
    std::vector<lock_key> keys;
    for (const auto& each : observer_->events()) {
      const auto* fault = std::get_if<fault_event>(&each);
      if (fault != nullptr && fault->operation == operation) keys.push_back(fault->key);
    }
    return keys;
  }

  const lock_key key_{"job", "a"};
  std::shared_ptr<recording_observer> observer_ = std::make_shared<recording_observer>();
  lock_table theirs_{rows_.rows(), {.ttl = 1h, .holder = "theirs", .time = time_}};
};

}  // namespace rowlock::tests

#endif
