// What sets of keys cost, through the store port.
#ifndef ROWLOCK_BENCH_SETS_HPP
#define ROWLOCK_BENCH_SETS_HPP

#include <benchmark/benchmark.h>

#include <cstddef>

#include "rowlock/port/store.hpp"

namespace rowlock::bench {

/// How many keys are acquired in one iteration.
inline constexpr std::size_t any_at_most = 200;
inline constexpr std::size_t all_keys = 100;

// What is acquired is released between the iterations, unmeasured. All rows exist.

/// Any 200 of 1,000 candidates, on a table of 10,000 rows.
void acquire_any(benchmark::State& state, store& locks);
/// All of 100 keys.
void acquire_all(benchmark::State& state, store& locks);
/// The same keys, one call for each.
void acquire_each(benchmark::State& state, store& locks);

}  // namespace rowlock::bench

#endif
