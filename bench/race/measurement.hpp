// One measurement, from the first table to the last answer.
#ifndef ROWLOCK_BENCH_RACE_MEASUREMENT_HPP
#define ROWLOCK_BENCH_RACE_MEASUREMENT_HPP

#include <chrono>
#include <optional>
#include <vector>

#include "race/plan.hpp"
#include "race/protocol.hpp"
#include "race/server_meter.hpp"
#include "race/tally.hpp"

namespace rowlock::race {

struct minute {
  latencies each;
  table_reading tables;  ///< At its end.
};

struct measured {
  tally counted;
  std::chrono::duration<double> length{};
  struct server_work {
    server_reading during;
    table_reading tables;
  };
  std::optional<server_work> server;  ///< Of PostgreSQL.
  std::vector<minute> minutes;        ///< With `plan::by_minute`.
};

/// Throws std::runtime_error when one of the processes failed.
measured measure(const plan& does, const protocol& by);

/// The limit without a client of this project: pgbench, with the library's own statements.
/// Prepared, a client for each thread of the plan, which does pairs in one process. Tells no
/// latencies: pgbench has averages only. Throws std::runtime_error for other plans, and when
/// pgbench fails.
measured measure_with_pgbench(const plan& does);

}  // namespace rowlock::race

#endif
