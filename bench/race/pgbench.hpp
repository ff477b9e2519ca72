// The limit without any client of ours: pgbench, with the library's own statements.
#ifndef ROWLOCK_BENCH_RACE_PGBENCH_HPP
#define ROWLOCK_BENCH_RACE_PGBENCH_HPP

#include "race/measurement.hpp"
#include "race/plan.hpp"

namespace rowlock::race {

/// Prepared, a client for each thread of the plan, which does pairs in one process. Latencies are
/// averages. Throws std::runtime_error for other plans, and when pgbench fails.
measured measure_with_pgbench(const plan& does);

}  // namespace rowlock::race

#endif
