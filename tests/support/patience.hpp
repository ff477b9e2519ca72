// How long a test waits for what must come.
#ifndef ROWLOCK_TESTS_SUPPORT_PATIENCE_HPP
#define ROWLOCK_TESTS_SUPPORT_PATIENCE_HPP

#include <chrono>
#include <functional>
#include <thread>

namespace rowlock::tests {

/// Nothing a test waits for takes longer; what does is reported as hanging.
inline constexpr std::chrono::seconds patience{60};

/// Whether the condition becomes true in time. After each check that fails `step` runs: it may move
/// the clock of a test.
template <class Condition>
[[nodiscard]] bool comes(
    const Condition& condition, const std::function<void()>& step = [] {}) {
  const auto given_up = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > given_up) return false;
    step();
    std::this_thread::yield();
  }
  return true;
}

}  // namespace rowlock::tests

#endif
