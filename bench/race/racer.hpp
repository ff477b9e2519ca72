// The work of one thread, from its first try to its last.
#ifndef ROWLOCK_BENCH_RACE_RACER_HPP
#define ROWLOCK_BENCH_RACE_RACER_HPP

#include <memory>
#include <random>
#include <stop_token>

#include "race/plan.hpp"
#include "race/protocol.hpp"
#include "race/shared_state.hpp"
#include "rowlock/lock_key.hpp"

namespace rowlock::race {

class racer {
 public:
  /// `number` is that of this thread among all threads of all processes.
  racer(const plan& does, shared_state& state, std::unique_ptr<contender> by, unsigned number);

  /// Until the stage is over; `over` is requested then.
  void run(const std::stop_token& over);

  [[nodiscard]] const tally& counted() const noexcept { return counted_; }

 private:
  using clock = std::chrono::steady_clock;

  void take_and_give_back();
  /// The key of the next pair.
  void choose_key();
  /// Waits until the next pair is due, and returns when that was.
  clock::time_point await_due();
  /// Otherwise all polling contenders would poll at the same moments, since each begins when
  /// another one is granted.
  void sleep_at_random();
  void take_a_turn(const std::stop_token& over);
  void be_refused();
  void wait_in_vain(const std::stop_token& over);

  [[nodiscard]] bool is(stage wanted) const noexcept { return state_.now == wanted; }
  void hold();
  void sleep_up_to(std::chrono::microseconds longest);

  const plan& plan_;
  shared_state& state_;
  std::unique_ptr<contender> contender_;
  unsigned number_;
  lock_key key_;
  std::uint64_t pairs_ = 0;
  clock::time_point due_ = clock::now();
  std::mt19937_64 random_;
  tally counted_;
};

}  // namespace rowlock::race

#endif
