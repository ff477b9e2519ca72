// Acquiring sets of rows on PostgreSQL: which statements, and what their answers mean.
#ifndef ROWLOCK_POSTGRES_ACQUIRE_SET_HPP
#define ROWLOCK_POSTGRES_ACQUIRE_SET_HPP

#include <cstddef>
#include <span>
#include <vector>

#include "postgres/session.hpp"

namespace rowlock::postgres {

// As the calls of the port of these names, for at least one request. They throw what the driver
// throws, but for contention, which is an answer.

std::vector<acquire_answer> acquire_all(store_call& asking,
                                        std::span<const acquire_request> requests);
/// `at_most` is above zero.
std::vector<acquire_answer> acquire_any(store_call& asking,
                                        std::span<const acquire_request> requests,
                                        std::size_t at_most);

}  // namespace rowlock::postgres

#endif
