// What was counted, by one thread or by many.
#ifndef ROWLOCK_BENCH_RACE_TALLY_HPP
#define ROWLOCK_BENCH_RACE_TALLY_HPP

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "race/latencies.hpp"

namespace rowlock::race {

struct tally {
  std::uint64_t taken = 0;
  std::uint64_t refused = 0;
  std::uint64_t violations = 0;   ///< Two inside at once: of a hot key only.
  std::uint64_t allocations = 0;  ///< By operator new, in the threads that take and give back.
  std::chrono::nanoseconds thread_cpu{};
  std::chrono::nanoseconds process_cpu{};
  std::int64_t bytes_each = 0;  ///< Of a lease that is held, where that is measured.
  latencies each;               ///< A pair of take and give back; or a try that was refused.
  latencies handover;           ///< From the wish to give back until another one had the key.

  void add(const tally& more) noexcept {
    taken += more.taken;
    refused += more.refused;
    violations += more.violations;
    allocations += more.allocations;
    thread_cpu += more.thread_cpu;
    process_cpu += more.process_cpu;
    bytes_each = std::max(bytes_each, more.bytes_each);
    each.add(more.each);
    handover.add(more.handover);
  }
};

}  // namespace rowlock::race

#endif
