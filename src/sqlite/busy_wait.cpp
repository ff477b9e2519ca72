// The retries of one call on a busy file.
#include "sqlite/busy_wait.hpp"

#include <algorithm>
#include <random>
#include <thread>

namespace rowlock::sqlite {

namespace {

using std::chrono::microseconds;

constexpr microseconds shortest_pause{250};
constexpr microseconds first_limit{3000};
constexpr microseconds last_limit{500};

/// Random, so that threads that collided do not collide again.
microseconds drawn_up_to(microseconds limit) {
  thread_local std::minstd_rand generator{std::random_device{}()};
  std::uniform_int_distribution<microseconds::rep> any{shortest_pause.count(), limit.count()};
  return microseconds{any(generator)};
}

}  // namespace

busy_wait::busy_wait(clock::time_point end) : end_{end}, pause_limit_{first_limit} {}

bool busy_wait::pause() {
  const auto now = clock::now();
  if (now >= end_) return false;
  std::this_thread::sleep_until(std::min(end_, now + drawn_up_to(pause_limit_)));
  // Pauses shrink, so that a thread that has waited longer retries more often than a new one. (With
  // growing pauses, one of 32 writers was served a hundred times as often as another; with these,
  // four times.)
  pause_limit_ = std::max(last_limit, pause_limit_ * 9 / 10);
  return true;
}

}  // namespace rowlock::sqlite
