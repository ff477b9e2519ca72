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

enum class which_key {
  own,     ///< That of the thread.
  random,  ///< One of the `plan::rows` others.
  fresh,   ///< One that was never used.
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
  /// A thread that had its turn comes back at a random moment of another one's hold, and all holds
  /// are equally long. Otherwise it comes back when another thread gets the key: what polls from
  /// then on would poll at the same moments of each hold.
  bool comes_back_at_random = false;
  std::uint64_t rows = 0;           ///< So many others in the lock table; only for rowlock's own.
  which_key keys = which_key::own;  ///< Of each pair.
  double rate = 0;                  ///< Pairs a second of all threads; 0: as many as they can.
  unsigned batch = 1;               ///< Keys of each thread, for protocols of many at once.
  bool beside_a_snapshot = false;   ///< A transaction stays open all the time.
  unsigned seed = 0;                ///< Of random moments, holds and keys.
  bool by_minute = false;           ///< Times of pairs and sizes of tables are kept by minute, too.
};

}  // namespace rowlock::race

#endif
