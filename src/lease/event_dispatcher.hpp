// Tells an observer, in a thread of its own.
#ifndef ROWLOCK_LEASE_EVENT_DISPATCHER_HPP
#define ROWLOCK_LEASE_EVENT_DISPATCHER_HPP

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "base/serial_executor.hpp"
#include "lease/lease_state.hpp"
#include "rowlock/observer.hpp"

namespace rowlock::detail {

inline std::chrono::microseconds as_told(boot_clock::duration duration) {
  return std::chrono::duration_cast<std::chrono::microseconds>(duration);
}

/// Not the messenger of losses: an observer that takes long must not delay a loss.
///
/// Thread-safety: all members may be called from any thread, and under any mutex.
class herald {
 public:
  /// Null: nobody is told, and there is no thread.
  explicit herald(std::shared_ptr<observer> told);

  [[nodiscard]] bool is_heard() const noexcept { return audience_ != nullptr; }

  /// Tells the event that `make` makes; it is only made if somebody listens.
  template <class Event, class Make>
  void tell(void (observer::*hears)(const Event&), const Make& make) noexcept {
    if (!audience_) return;
    try {
      queue([hears, event = make()](observer& told) { (told.*hears)(event); });
    } catch (...) {  // out of memory
      ++audience_->missed;
    }
  }

  void tell_lost(const kept_leases& lost, loss_reason why, boot_clock::time_point now) noexcept;
  void tell_fault(fault_operation of, const lock_key& first, std::size_t keys,
                  const std::exception_ptr& thrown, boot_clock::duration took) noexcept;

  /// Tells what is still to be told, and then nothing more.
  void close() noexcept;

 private:
  /// Shared with a thread that may outlive us.
  struct audience {
    explicit audience(std::shared_ptr<observer> told) : hearing{std::move(told)} {}

    const std::shared_ptr<observer> hearing;
    std::atomic<std::size_t> queued{0};
    std::atomic<std::size_t> missed{0};
  };
  using call = std::function<void(observer&)>;

  void queue(call event);
  static void deliver(audience& to, const call& event) noexcept;

  const std::shared_ptr<audience> audience_;
  std::mutex mutex_;
  std::unique_ptr<messenger> messenger_;  // guarded by mutex_
};

}  // namespace rowlock::detail

#endif
