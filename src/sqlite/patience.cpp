// How long one call waits for its turn.
#include "sqlite/patience.hpp"

#include <algorithm>
#include <random>
#include <thread>

namespace rowlock::detail {

namespace {

constexpr std::chrono::microseconds shortest_pause{250};
constexpr std::chrono::microseconds no_pause_is_longer{8000};

/// Those who collided must not meet again.
std::chrono::microseconds drawn_up_to(std::chrono::microseconds longest) {
  thread_local std::minstd_rand generator{std::random_device{}()};
  std::uniform_int_distribution<std::chrono::microseconds::rep> any{shortest_pause.count(),
                                                                    longest.count()};
  return std::chrono::microseconds{any(generator)};
}

}  // namespace

patience::patience(std::chrono::milliseconds longest) : end_{clock::now() + longest} {}

bool patience::pause() {
  const auto now = clock::now();
  if (now >= end_) return false;
  std::this_thread::sleep_until(std::min(end_, now + drawn_up_to(longest_pause_)));
  longest_pause_ = std::min(2 * longest_pause_, no_pause_is_longer);
  return true;
}

}  // namespace rowlock::detail
