// Delivery of events to an observer, on a thread of its own.
#ifndef ROWLOCK_LEASE_EVENT_DISPATCHER_HPP
#define ROWLOCK_LEASE_EVENT_DISPATCHER_HPP

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "base/serial_executor.hpp"
#include "lease/lease_state.hpp"
#include "rowlock/detail/checked_mutex.hpp"
#include "rowlock/observer.hpp"

namespace rowlock::detail {

inline std::chrono::microseconds to_microseconds(boot_clock::duration duration) {
  return std::chrono::duration_cast<std::chrono::microseconds>(duration);
}

/// The correlation id of a statement on leases: that of the first, if exactly one; else empty.
inline std::string_view common_id(std::size_t leases, std::string_view of_the_first) noexcept {
  return leases == 1 ? of_the_first : std::string_view{};
}

/// Separate from the executor of losses: a slow observer must not delay a loss. While it blocks,
/// 10,000 events are queued; later ones are dropped and counted.
///
/// Thread-safety: all members may be called from any thread, and under any mutex.
class event_dispatcher {
 public:
  /// Without an observer (null) there is no thread, and events are dropped.
  explicit event_dispatcher(std::shared_ptr<observer> target);

  [[nodiscard]] bool has_observer() const noexcept { return sink_ != nullptr; }

  /// Queues the event that `make` returns; `make` runs only if there is an observer.
  template <class Event, class Make>
  void emit(void (observer::*member)(const Event&), const Make& make) noexcept {
    if (!sink_) return;
    try {
      queue([member, event = make()](observer& target) { (target.*member)(event); });
    } catch (...) {  // out of memory
      ++sink_->missed;
    }
  }

  void emit_lost(const lease_states& lost, loss_reason why, boot_clock::time_point now) noexcept;
  void emit_fault(fault_operation of, const lock_key& first, std::size_t keys,
                  const std::exception_ptr& thrown, boot_clock::duration took,
                  std::string_view correlation_id = {}) noexcept;

  /// Delivers the events queued so far; drops all later ones.
  void close() noexcept;

 private:
  /// Shared with the executor's thread, which may outlive the dispatcher.
  struct sink {
    explicit sink(std::shared_ptr<observer> to) : target{std::move(to)} {}

    const std::shared_ptr<observer> target;
    std::atomic<std::size_t> queued{0};
    std::atomic<std::size_t> missed{0};
  };
  using call = std::function<void(observer&)>;

  void queue(call event);
  static void deliver(sink& to, const call& event) noexcept;

  const std::shared_ptr<sink> sink_;
  checked_mutex mutex_;
  std::unique_ptr<serial_executor> executor_ ROWLOCK_GUARDED_BY(mutex_);
};

}  // namespace rowlock::detail

#endif
