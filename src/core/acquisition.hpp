// One attempt of a calling thread to acquire a key, from the first question to the end of its wait.
#ifndef ROWLOCK_CORE_ACQUISITION_HPP
#define ROWLOCK_CORE_ACQUISITION_HPP

#include "core/keeper.hpp"
#include "core/waiting_line.hpp"
#include "rowlock/retry_policy.hpp"
#include "rowlock/store.hpp"

namespace rowlock::detail {

/// Asks at once, unless others of this process wait for the key already; then waits in line, as far
/// as `wait` allows. At the end of a limited time it asks once more.
wait_end acquire(keeper& leases, const keeper::visit& here, const wanted_lease& wanted,
                 const retry_policy& wait);

}  // namespace rowlock::detail

#endif
