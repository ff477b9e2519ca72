// Acquiring, renewing and releasing on PostgreSQL: which statements, and what their answers mean.
#ifndef ROWLOCK_POSTGRES_ACQUIRE_HPP
#define ROWLOCK_POSTGRES_ACQUIRE_HPP

#include <optional>
#include <span>
#include <vector>

#include "postgres/session.hpp"

namespace rowlock::postgres {

// All of them first ask for what is wanted, and look only where it was not given. They throw what
// the driver throws, but for contention, which is an answer.

std::vector<acquire_answer> acquire(store_call& asking, std::span<const acquire_request> requests);
std::vector<change_answer> renew(store_call& asking, std::span<const renew_request> requests);
std::vector<change_answer> release(store_call& asking, std::span<const release_request> requests);
handoff_answer handoff(store_call& asking, const handoff_request& request);

}  // namespace rowlock::postgres

#endif
