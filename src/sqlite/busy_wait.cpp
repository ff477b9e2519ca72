// The retries of one call on a busy file.
#include "sqlite/busy_wait.hpp"

#include <algorithm>
#include <thread>

namespace rowlock::sqlite {

namespace {

using std::chrono::microseconds;

/// About as long as a write that does not wait for the disk.
constexpr microseconds first_pause{50};
/// Few writers ask so often: the others queue.
constexpr microseconds longest_pause{500};

}  // namespace

busy_wait::busy_wait(clock::time_point end) : end_{end}, pause_{first_pause} {}

bool busy_wait::pause() {
  const auto now = clock::now();
  if (now >= end_) return false;
  std::this_thread::sleep_until(std::min(end_, now + pause_));
  pause_ = std::min(2 * pause_, longest_pause);
  return true;
}

}  // namespace rowlock::sqlite
