// Waits of a test for what other threads do: each ends.
#ifndef ROWLOCK_EXAMPLES_ORIGINS_SUPPORT_WAITS_HPP
#define ROWLOCK_EXAMPLES_ORIGINS_SUPPORT_WAITS_HPP

#include <chrono>
#include <functional>
#include <future>
#include <stdexcept>
#include <thread>

#include "support/patience.hpp"

namespace origins {

/// Whether the condition becomes true in time. After each check that fails `step` runs: it may move
/// the clock of a test.
template <class Condition>
bool comes(
    const Condition& condition, const std::function<void()>& step = [] {}) {
  const auto given_up = std::chrono::steady_clock::now() + rowlock::tests::patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > given_up) return false;
    step();
    std::this_thread::yield();
  }
  return true;
}

/// What the future gets. Throws what it holds, or `std::logic_error` if nothing comes in time.
template <class Value>
Value value_of(std::future<Value> expected) {
  if (expected.wait_for(rowlock::tests::patience) != std::future_status::ready) {
    throw std::logic_error{"nothing came in time"};
  }
  return expected.get();
}
template <class Value>
Value value_of(std::promise<Value>& expected) {
  return value_of(expected.get_future());
}

}  // namespace origins

#endif
