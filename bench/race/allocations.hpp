// How often this thread has called operator new.
#ifndef ROWLOCK_BENCH_RACE_ALLOCATIONS_HPP
#define ROWLOCK_BENCH_RACE_ALLOCATIONS_HPP

#include <cstdint>

namespace rowlock::race {

/// What C libraries allocate is not in it.
std::uint64_t allocations_of_this_thread() noexcept;

}  // namespace rowlock::race

#endif
