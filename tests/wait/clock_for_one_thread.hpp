// A clock for tests that take the due calls of a wait_queue themselves.
#ifndef ROWLOCK_TESTS_WAIT_CLOCK_FOR_ONE_THREAD_HPP
#define ROWLOCK_TESTS_WAIT_CLOCK_FOR_ONE_THREAD_HPP

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "rowlock/clock.hpp"
#include "wait/wait_queue.hpp"

namespace rowlock::tests {

/// A clock on which no thread waits.
class clock_for_one_thread final : public time_source {
 public:
  [[nodiscard]] boot_clock::time_point now() const noexcept override { return now_; }
  void wait_until(std::unique_lock<std::mutex>& /*lock*/, std::condition_variable& /*wakeup*/,
                  boot_clock::time_point /*until*/) override {
    throw nothing_is_due{};
  }
  void advance(boot_clock::duration step) { now_ += step; }

  /// What is due now. Something must be due at last, or `await_work` would wait for ever.
  static detail::wait_queue::work due(detail::wait_queue& queue) {
    try {
      return *queue.await_work();
    } catch (const nothing_is_due&) {
      return {};
    }
  }

 private:
  struct nothing_is_due {};

  boot_clock::time_point now_{std::chrono::hours{1}};
};

}  // namespace rowlock::tests

#endif
