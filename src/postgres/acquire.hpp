// Acquiring rows on PostgreSQL: the modes of `store::acquire`.
#ifndef ROWLOCK_POSTGRES_ACQUIRE_HPP
#define ROWLOCK_POSTGRES_ACQUIRE_HPP

#include <cstddef>
#include <span>
#include <vector>

#include "postgres/executor.hpp"
#include "postgres/last_found.hpp"

namespace rowlock::postgres {

// The modes of `store::acquire`, for at least one request. They throw the driver's exceptions,
// except for contention, which is an answer.

std::vector<acquire_answer> acquire(executor& exec, last_found& found,
                                    std::span<const acquire_request> requests);
std::vector<acquire_answer> acquire_all(executor& exec, std::span<const acquire_request> requests);
/// `at_most` must be above zero.
std::vector<acquire_answer> acquire_any(executor& exec, std::span<const acquire_request> requests,
                                        std::size_t at_most);

/// `store::renew`. Acquiring uses it for rows that the same attempt was granted before.
std::vector<change_answer> renew(executor& exec, std::span<const renew_request> requests);

}  // namespace rowlock::postgres

#endif
