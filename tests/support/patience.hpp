// How long a test waits for what must come.
#ifndef ROWLOCK_TESTS_SUPPORT_PATIENCE_HPP
#define ROWLOCK_TESTS_SUPPORT_PATIENCE_HPP

#include <chrono>
#include <functional>
#include <future>
#include <iostream>
#include <source_location>
#include <stdexcept>
#include <string>
#include <thread>

namespace rowlock::tests {

/// Nothing a test waits for takes longer, also on a machine with ten times as much to do; what does
/// is reported as hanging.
inline constexpr std::chrono::seconds patience{60};

/// Whether the condition becomes true in time. After each check that fails `step` runs: it may move
/// the clock of a test.
template <class Condition>
[[nodiscard]] bool comes(const Condition& condition, const std::function<void()>& step = {}) {
  const auto given_up = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > given_up) return static_cast<bool>(condition());
    if (step) step();
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  return true;
}

/// As `comes`, and throws where the condition does not become true; `why` says more then. (It is
/// printed at once, too: what the test has begun may keep the exception from being reported.)
template <class Condition>
void await_that(const Condition& condition, const std::function<void()>& step = {},
                const std::function<std::string()>& why = {},
                std::source_location where = std::source_location::current()) {
  if (comes(condition, step)) return;
  const auto text = std::string{where.file_name()} + ':' + std::to_string(where.line()) +
                    ": this did not come" + (why ? ": " + why() : std::string{});
  std::cerr << text << std::endl;
  throw std::runtime_error{text};
}

/// Runs `step`, which moves a clock, until the answer is there.
template <class Answer>
void await_answer(const Answer& answer, const std::function<void()>& step,
                  std::source_location where = std::source_location::current()) {
  await_that([&] { return answer.wait_for(std::chrono::seconds{0}) == std::future_status::ready; },
             step, {}, where);
}

/// Moves a clock by `length` in steps, with a moment after each for the threads that wait for it.
template <class Clock, class Length, class Step>
void pass(Clock& time, Length length, Step step) {
  const auto end = time.now() + length;
  await_that([&] { return time.now() >= end; }, [&] { time.advance(step); });
}

}  // namespace rowlock::tests

#endif
