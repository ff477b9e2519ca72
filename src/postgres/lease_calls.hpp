// Acquiring, renewing and releasing on PostgreSQL: which statements, and what their answers mean.
#ifndef ROWLOCK_POSTGRES_LEASE_CALLS_HPP
#define ROWLOCK_POSTGRES_LEASE_CALLS_HPP

#include <exception>
#include <span>
#include <vector>

#include "postgres/postgres_errors.hpp"
#include "postgres/store_call.hpp"

namespace rowlock::postgres {

/// Runs `work`, which a concurrent transaction may end.
template <class Work>
void unless_contended(const Work& work) {
  try {
    work();
  } catch (const std::exception& thrown) {
    if (!is_contention(thrown)) throw;
  }
}

// All of them first ask for what is wanted, and look only where it was not given. They throw what
// libpqxx throws, but for contention, which is an answer.

std::vector<acquire_answer> acquire(store_call& asking, std::span<const acquire_request> requests);
std::vector<renew_answer> renew(store_call& asking, std::span<const renew_request> requests);
std::vector<release_answer> release(store_call& asking, std::span<const release_request> requests);

}  // namespace rowlock::postgres

#endif
