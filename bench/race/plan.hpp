// The parameters of one measurement.
#ifndef ROWLOCK_BENCH_RACE_PLAN_HPP
#define ROWLOCK_BENCH_RACE_PLAN_HPP

#include <chrono>
#include <cstdint>
#include <string>

namespace rowlock::race {

enum class act {
  pairs,    ///< Each thread acquires and releases a key of its own.
  turns,    ///< All want one key; a thread that released it waits until another one had it.
  refused,  ///< One more process holds the key; all try to take it.
  queue,    ///< One more process holds the key; all wait for it.
};

struct plan {
  std::string protocol;
  act does = act::pairs;
  unsigned processes = 1;
  unsigned threads = 1;      ///< In each process.
  unsigned connections = 0;  ///< In each process; 0: as many as threads.
  std::chrono::milliseconds warm_up{300};
  std::chrono::milliseconds length{2000};
  std::chrono::microseconds hold{0};  ///< On average, of a hot key: between nothing and twice that.
  std::uint64_t rows = 0;             ///< So many others in the lock table; only for rowlock's own.
  unsigned batch = 1;                 ///< Keys of each thread, for protocols of many at once.
  bool beside_a_snapshot = false;     ///< A transaction stays open all the time.
};

}  // namespace rowlock::race

#endif
