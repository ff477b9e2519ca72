// How often this thread has called operator new, and when that fails.
#ifndef ROWLOCK_BENCH_RACE_ALLOCATIONS_HPP
#define ROWLOCK_BENCH_RACE_ALLOCATIONS_HPP

#include <cstdint>

namespace rowlock::race {

/// What C libraries allocate is not in it.
std::uint64_t allocations_of_this_thread() noexcept;

/// From now on operator new fails in this thread, after so many more calls.
void fail_allocations_after(std::uint64_t more) noexcept;
void fail_no_allocations() noexcept;

}  // namespace rowlock::race

#endif
