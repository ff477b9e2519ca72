// Times as clients write them that trust their own clock.
#ifndef ROWLOCK_BENCH_RACE_CLIENT_CLOCK_HPP
#define ROWLOCK_BENCH_RACE_CLIENT_CLOCK_HPP

#include <chrono>
#include <string>

namespace rowlock::race {

/// 2026-11-22 01:02:03.000456, in UTC.
std::string utc_text(std::chrono::system_clock::time_point when);

}  // namespace rowlock::race

#endif
