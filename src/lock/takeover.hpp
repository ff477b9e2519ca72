// A lease that another process has passed on.
#ifndef ROWLOCK_LOCK_TAKEOVER_HPP
#define ROWLOCK_LOCK_TAKEOVER_HPP

#include "lease/lease_keeper.hpp"
#include "lease/passed_lease.hpp"
#include "lock/queue_wait.hpp"

namespace rowlock::detail {

/// Gives the row of the passed lease to the owner of a request for the same key.
///
/// Thread-safety: one thread.
class takeover : private queue_wait {
 public:
  takeover(lease_keeper& leases, lease_request wanted);

  /// Reports the result to the observer. During an operation.
  attempt_end run(const passed_lease& passed);

 private:
  attempt_end attempt(const passed_lease& passed);

  lease_request wanted_;
};

}  // namespace rowlock::detail

#endif
