// Operations that use the store, and the wait for their end.
#ifndef ROWLOCK_LEASE_OPERATION_GATE_HPP
#define ROWLOCK_LEASE_OPERATION_GATE_HPP

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace rowlock::detail {

/// Counts the operations under way. Once it is closed, none begins.
///
/// Thread-safety: all members may be called from any thread.
class operation_gate {
  /// The number of operations, and whether the gate is closed.
  using counter = std::atomic<std::uint32_t>;
  static constexpr std::uint32_t closed = std::uint32_t{1} << 31U;

 public:
  /// While it exists, `await_last` does not return.
  class guard {
   public:
    explicit guard(std::shared_ptr<counter> entered) noexcept : counter_{std::move(entered)} {}
    guard(guard&&) noexcept = default;
    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;
    guard& operator=(guard&&) = delete;
    ~guard() {
      if (counter_ != nullptr && --*counter_ == closed) counter_->notify_all();
    }

   private:
    std::shared_ptr<counter> counter_;  // the gate may be gone once it is down to zero
  };

  /// Returns nothing once closed.
  [[nodiscard]] std::optional<guard> enter() noexcept {
    auto seen = counter_->load();
    do {
      if ((seen & closed) != 0) return std::nullopt;
    } while (!counter_->compare_exchange_weak(seen, seen + 1));
    return std::optional<guard>{std::in_place, counter_};
  }

  void close() noexcept { *counter_ |= closed; }
  /// Waits until all operations have ended. To be called after `close`.
  void await_last() const noexcept {
    for (auto seen = counter_->load(); seen != closed; seen = counter_->load()) {
      counter_->wait(seen);
    }
  }

 private:
  const std::shared_ptr<counter> counter_ = std::make_shared<counter>(0);
};

}  // namespace rowlock::detail

#endif
