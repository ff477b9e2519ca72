// Time of the processor that this thread has used.
#ifndef ROWLOCK_BENCH_RACE_CPU_TIME_HPP
#define ROWLOCK_BENCH_RACE_CPU_TIME_HPP

#include <chrono>
#include <ctime>

namespace rowlock::race {

inline std::chrono::nanoseconds cpu_of_this_thread() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::chrono::seconds{used.tv_sec} + std::chrono::nanoseconds{used.tv_nsec};
}

}  // namespace rowlock::race

#endif
